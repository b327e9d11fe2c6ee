//! Reading and writing bytes by futures-io's traits, the same for every connected socket.

/// Implements the traits for a stream with a field `io` and a method `shutdown`, and for references to it.
macro_rules! byte_stream {
    ($stream:ty) => {
        impl futures_io::AsyncRead for &$stream {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffer: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                let wanted = buffer.len();
                self.io.poll_bytes(Direction::Read, cx, wanted, |mut stream| {
                    std::io::Read::read(&mut stream, buffer)
                })
            }

            fn poll_read_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffers: &mut [std::io::IoSliceMut<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                let wanted = buffers.iter().map(|buffer| buffer.len()).sum();
                self.io.poll_bytes(Direction::Read, cx, wanted, |mut stream| {
                    std::io::Read::read_vectored(&mut stream, buffers)
                })
            }
        }

        impl futures_io::AsyncWrite for &$stream {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                data: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io.poll_bytes(Direction::Write, cx, data.len(), |mut stream| {
                    std::io::Write::write(&mut stream, data)
                })
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                data: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                let wanted = data.iter().map(|data| data.len()).sum();
                self.io.poll_bytes(Direction::Write, cx, wanted, |mut stream| {
                    std::io::Write::write_vectored(&mut stream, data)
                })
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                // What is written is with the system already.
                std::task::Poll::Ready(Ok(()))
            }

            fn poll_close(
                self: std::pin::Pin<&mut Self>,
                _cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                match self.shutdown(std::net::Shutdown::Write) {
                    // The peer was faster.
                    Err(error) if error.kind() == std::io::ErrorKind::NotConnected => {
                        std::task::Poll::Ready(Ok(()))
                    }
                    result => std::task::Poll::Ready(result),
                }
            }
        }

        impl futures_io::AsyncRead for $stream {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffer: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut &*self).poll_read(cx, buffer)
            }

            fn poll_read_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffers: &mut [std::io::IoSliceMut<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut &*self).poll_read_vectored(cx, buffers)
            }
        }

        impl futures_io::AsyncWrite for $stream {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                data: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut &*self).poll_write(cx, data)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                data: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut &*self).poll_write_vectored(cx, data)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut &*self).poll_flush(cx)
            }

            fn poll_close(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut &*self).poll_close(cx)
            }
        }
    };
}

pub(super) use byte_stream;
