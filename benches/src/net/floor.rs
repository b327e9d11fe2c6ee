//! The floor: an echo server that is one thread around epoll, with one read and one write per message and nothing else.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use rustix::buffer::spare_capacity;
use rustix::event::epoll;

/// Serves until the process ends. Every message is read at once, since it is not longer than `size`.
pub(crate) fn serve_echo(listener: TcpListener, size: usize) -> io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
    let (mut streams, mut buffer) = (Vec::<TcpStream>::new(), vec![0; size]);
    let mut events = Vec::with_capacity(1024);
    loop {
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), None)?;
        for event in &events {
            match event.data.u64() {
                LISTENER => {
                    let (stream, _) = listener.accept()?;
                    stream.set_nodelay(true)?;
                    let data = epoll::EventData::new_u64(streams.len() as u64);
                    epoll::add(&epoll, &stream, data, epoll::EventFlags::IN)?;
                    streams.push(stream);
                }
                index => {
                    let stream = &mut streams[index as usize];
                    match stream.read(&mut buffer) {
                        Ok(count @ 1..) => stream.write_all(&buffer[..count])?,
                        // Whoever is gone stays in the list, but asks no more.
                        _ => epoll::delete(&epoll, &*stream)?,
                    }
                }
            }
        }
    }
}

/// No connection has this number.
const LISTENER: u64 = u64::MAX;
