//! What goes through the pipes between a driver and a worker: bytes behind their number.
//!
//! | who | says |
//! |---|---|
//! | worker, once | [`Opened`], as JSON |
//! | driver | how many messages there are and which block is told which of them; then the messages |
//! | worker | the replies, one for each of these pairs, in order |

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Rows and columns of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    pub rows: usize,
    pub columns: usize,
}

/// What a worker says when its files are open.
#[derive(Debug, Serialize, Deserialize)]
pub struct Opened {
    /// Its version of katoms.
    pub katoms: String,
    /// The shapes of its blocks, or what is wrong with one of them.
    pub blocks: Result<Vec<Shape>, String>,
}

/// What a worker is asked: messages, and the pairs of a block and the place of its message among them.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'m> {
    messages: Vec<&'m [u8]>,
    tasks: Vec<(usize, usize)>,
}

/// The same as it arrives.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    pub messages: Vec<Vec<u8>>,
    pub tasks: Vec<(usize, usize)>,
}

impl<'m> Request<'m> {
    /// What of a round trip is for these blocks.
    pub fn of(messages: &'m [Vec<u8>], tasks: &[(usize, usize)], blocks: &Range<usize>) -> Self {
        let own = || tasks.iter().filter(|(block, _)| blocks.contains(block));
        let mut used: Vec<usize> = own().map(|task| task.1).collect();
        used.sort_unstable();
        used.dedup();
        let tasks = own().map(|&(block, message)| (block, used.partition_point(|&other| other < message))).collect();
        Self { messages: used.into_iter().map(|at| messages[at].as_slice()).collect(), tasks }
    }

    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The number of replies.
    pub fn replies(&self) -> usize {
        self.tasks.len()
    }

    /// Writes it; the number of bytes.
    pub fn send(&self, to: &mut impl Write) -> io::Result<u64> {
        let tasks = self.tasks.iter().flat_map(|&(block, message)| [block, message]);
        let numbers = [self.messages.len()].into_iter().chain(tasks);
        let head: Vec<u8> = numbers.flat_map(|number| (number as u64).to_le_bytes()).collect();
        let mut bytes = send(to, &head)?;
        for message in &self.messages {
            bytes += send(to, message)?;
        }
        to.flush()?;
        Ok(bytes)
    }
}

impl Asked {
    /// The next request; `None` where nobody asks any more.
    pub fn receive(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some(head) = receive(from)? else { return Ok(None) };
        let number = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).unwrap_or(usize::MAX);
        let numbers: Vec<usize> = head.as_chunks().0.iter().map(number).collect();
        let (count, tasks) = numbers.split_first().ok_or(ErrorKind::InvalidData)?;
        let tasks = tasks.as_chunks().0.iter().map(|&[block, message]| (block, message)).collect();
        let message = |_| receive(from)?.ok_or_else(|| ErrorKind::UnexpectedEof.into());
        Ok(Some(Self { messages: (0..*count).map(message).collect::<io::Result<_>>()?, tasks }))
    }
}

/// Writes a frame; the number of bytes.
pub fn send(to: &mut impl Write, bytes: &[u8]) -> io::Result<u64> {
    let length = bytes.len() as u64;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(bytes)?;
    Ok(length + 8)
}

/// Reads a frame; `None` where there is none any more.
pub fn receive(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = Vec::with_capacity(8);
    from.take(8).read_to_end(&mut length)?;
    if length.is_empty() {
        return Ok(None);
    }
    let length = u64::from_le_bytes(length.try_into().map_err(|_| ErrorKind::UnexpectedEof)?);
    let mut bytes = Vec::new();
    // Whoever says what no memory could hold is no worker of ours.
    let expected = usize::try_from(length).map_err(|_| ErrorKind::InvalidData)?;
    bytes.try_reserve_exact(expected).map_err(|_| ErrorKind::OutOfMemory)?;
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() == expected { Ok(Some(bytes)) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives() {
        let messages = [b"a".to_vec(), b"bc".to_vec(), Vec::new()];
        let request = Request::of(&messages, &[(0, 0), (3, 2), (4, 1), (5, 2)], &(3..6));
        let mut pipe = Vec::new();
        assert_eq!(request.send(&mut pipe).unwrap(), pipe.len() as u64);
        let mut from = pipe.as_slice();
        let asked = Asked::receive(&mut from).unwrap().unwrap();
        assert_eq!(asked, Asked { messages: vec![b"bc".to_vec(), Vec::new()], tasks: vec![(3, 1), (4, 0), (5, 1)] });
        assert_eq!(Asked::receive(&mut from).unwrap(), None);
        for cut in 1..pipe.len() {
            assert!(Asked::receive(&mut &pipe[..cut]).is_err(), "{cut}");
        }
        assert!(Request::of(&messages, &[(0, 0)], &(3..6)).is_empty());
    }
}
