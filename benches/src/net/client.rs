//! A client with many connections and one thread: asks on each, waits for the answer, and asks again.
//!
//! A bare epoll loop without a runtime, so that it costs the same for every server. Sockets block, and are only read when
//! something is there.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::epoll;

use super::shape::Shape;

pub(crate) struct Client {
    epoll: OwnedFd,
    connections: Vec<Connection>,
    question: Vec<u8>,
    /// The length of every answer.
    answer: usize,
}

struct Connection {
    stream: TcpStream,
    /// Bytes of the answer that are to come.
    missing: usize,
    /// Questions that are still to be asked.
    left: usize,
}

impl Client {
    /// Connects, and asks once on each connection, so that none waits in the server's queue of new ones.
    pub(crate) fn connect(server: SocketAddr, connections: usize, shape: Shape) -> io::Result<Client> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut client = Client { epoll, connections: Vec::new(), question: shape.question(), answer: 0 };
        for index in 0..connections {
            let mut stream = TcpStream::connect(server)?;
            stream.set_nodelay(true)?;
            client.answer = shape.first_answer(&mut stream)?;
            let data = epoll::EventData::new_u64(index as u64);
            epoll::add(&client.epoll, &stream, data, epoll::EventFlags::IN)?;
            client.connections.push(Connection { stream, missing: 0, left: 0 });
        }
        Ok(client)
    }

    /// Asks that many times on each of the first `active` connections.
    pub(crate) fn exchange(&mut self, active: usize, times: usize) -> io::Result<()> {
        for connection in &mut self.connections[..active] {
            connection.left = times;
            connection.ask(&self.question, self.answer)?;
        }
        let (mut busy, mut buffer) = (active, vec![0; self.answer]);
        let mut events = Vec::with_capacity(self.connections.len());
        while busy > 0 {
            events.clear();
            epoll::wait(&self.epoll, spare_capacity(&mut events), None)?;
            for event in &events {
                let connection = &mut self.connections[event.data.u64() as usize];
                let count = connection.stream.read(&mut buffer[..connection.missing])?;
                connection.missing -= count;
                if count == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                } else if connection.missing == 0 && connection.left > 0 {
                    connection.ask(&self.question, self.answer)?;
                } else if connection.missing == 0 {
                    busy -= 1;
                }
            }
        }
        Ok(())
    }
}

impl Connection {
    fn ask(&mut self, question: &[u8], answer: usize) -> io::Result<()> {
        self.left -= 1;
        self.missing = answer;
        self.stream.write_all(question)
    }
}
