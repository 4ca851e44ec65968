//! Compressed bytes, decompressed as they are read.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::allocation::in_words;

/// How bytes are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// What the first bytes say.
    pub(crate) fn of_bytes(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // a frame, or one to be skipped, which some programs put first
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// What the extension of a name says.
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "gz" | "gzip" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// What these bytes were before they were compressed. Errors say whether the bytes end too early or are damaged.
    pub(crate) fn decoder<'a>(self, bytes: Box<dyn BufRead + 'a>) -> Box<dyn Read + 'a> {
        let decoder = match self {
            Self::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(bytes))),
            Self::Zstd => {
                Decoder::Zstd(Box::new(Frames { source: bytes, decoder: FrameDecoder::new(), is_within: false }))
            }
        };
        Box::new(Plain { decoder, compression: self })
    }
}

enum Decoder<'a> {
    Gzip(Box<MultiGzDecoder<Box<dyn BufRead + 'a>>>),
    Zstd(Box<Frames<'a>>),
}

/// A decoder whose errors are in plain words.
struct Plain<'a> {
    decoder: Decoder<'a>,
    compression: Compression,
}

impl Read for Plain<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.read(out),
            Decoder::Zstd(frames) => frames.read(out),
        };
        read.map_err(|error| {
            let name = self.compression.name();
            if is_end(&error) {
                let words = format!("the {name} data end too early: copy or download the file again");
                return io::Error::new(ErrorKind::UnexpectedEof, words);
            }
            match error.kind() {
                ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other => {
                    let words = format!("the {name} data are damaged ({error}): copy or download the file again");
                    io::Error::new(ErrorKind::InvalidData, words)
                }
                // the system, not the data
                _ => error,
            }
        })
    }
}

/// Whether an error is, or comes from, the end of the bytes.
fn is_end(error: &io::Error) -> bool {
    let mut cause = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    let mut found = error.kind() == ErrorKind::UnexpectedEof;
    while let Some(inner) = cause {
        found |= inner.downcast_ref::<io::Error>().is_some_and(|inner| inner.kind() == ErrorKind::UnexpectedEof);
        cause = inner.source();
    }
    found
}

/// The frames of a zstd file, one after the other.
struct Frames<'a> {
    source: Box<dyn BufRead + 'a>,
    decoder: FrameDecoder,
    is_within: bool,
}

impl Frames<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_within {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.is_within = self.start_frame()?;
                continue;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(io::Error::other)?;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(out);
            }
            let promised = self.decoder.get_checksum_from_data();
            if promised.is_some() && promised != self.decoder.get_calculated_checksum() {
                return Err(io::Error::new(ErrorKind::InvalidData, "the checksum is wrong"));
            }
            self.is_within = false;
        }
    }

    /// Reads the head of a frame, or skips one that holds nothing of the data; whether we are within a frame then.
    fn start_frame(&mut self) -> io::Result<bool> {
        match self.decoder.init(&mut self.source) {
            Ok(()) => Ok(true),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let skipped = io::copy(&mut self.source.by_ref().take(u64::from(length)), &mut io::sink())?;
                if skipped < u64::from(length) { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(false) }
            }
            // the decoder keeps as much of the text as the frame asks for, up to 128 MiB
            Err(FrameDecoderError::WindowSizeTooBig { requested, .. }) => {
                let words = format!(
                    "the zstd data need {} of memory to be unpacked, which is more than is given: unpack the file with \
                     zstd -d --long=31",
                    in_words(requested)
                );
                Err(io::Error::new(ErrorKind::Unsupported, words))
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }
}
