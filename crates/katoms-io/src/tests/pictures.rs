use super::{complaint, given, written};
use crate::{Picture, Source, write_png};

fn picture(source: Source) -> Picture {
    match source {
        Source::Picture(picture) => picture,
        other => panic!("no picture: {other:?}"),
    }
}

#[test]
fn pictures_of_all_kinds_are_read() {
    let grey = picture(given("grey16.png").unwrap());
    assert_eq!((grey.rows, grey.columns, grey.seen), (1, 3, vec![true; 3]));
    assert_eq!(grey.channels, [[0.0, 32768.0 / 65535.0, 1.0]]);

    let palette = picture(given("palette.png").unwrap());
    assert_eq!(palette.channels, [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    assert_eq!(palette.seen, [true, false, true]);

    let colour = picture(given("rgba.png").unwrap());
    assert_eq!(colour.channels, [[1.0, 1.0 / 255.0], [0.0, 2.0 / 255.0], [0.2, 3.0 / 255.0]]);
    assert_eq!(colour.seen, [true, false]);

    let grey = picture(given("grey.jpg").unwrap());
    assert_eq!((grey.rows, grey.columns, grey.channels.len()), (8, 16, 1));
    assert!(grey.channels[0].iter().all(|v| (v - 128.0 / 255.0).abs() < 0.01));

    let red = picture(given("red.jpg").unwrap());
    assert_eq!((red.rows, red.columns, red.channels.len()), (8, 16, 3));
    assert!(red.channels[0].iter().all(|v| *v > 0.97) && red.channels[1].iter().all(|v| *v < 0.03));
}

#[test]
fn pictures_are_written_and_read_back() {
    let values = |shift: usize| (0..6).map(|i| ((i * 41 + shift) % 256) as f64 / 255.0).collect::<Vec<_>>();
    for channels in [vec![values(0)], vec![values(0), values(9), values(100)]] {
        for seen in [vec![true; 6], vec![true, false, true, true, false, true]] {
            let one = Picture { rows: 2, columns: 3, channels: channels.clone(), seen };
            assert_eq!(picture(written("a.png", &write_png(&one).unwrap()).unwrap()), one);
        }
    }
}

#[test]
fn values_beyond_the_range_are_cut_and_nan_is_black() {
    let channel = vec![-0.5, 1.5, f64::NAN, 0.5];
    let one = Picture { rows: 1, columns: 4, channels: vec![channel], seen: vec![true; 4] };
    let back = picture(written("a.png", &write_png(&one).unwrap()).unwrap());
    assert_eq!(back.channels[0], [0.0, 1.0, 0.0, 128.0 / 255.0]);
}

#[test]
fn pictures_that_are_none_are_not_written() {
    let short = Picture { rows: 2, columns: 2, channels: vec![vec![0.0; 3]], seen: vec![true; 4] };
    assert!(write_png(&short).unwrap_err().to_string().contains("2 × 2 pixels do not fit its 1 channels"));
    let empty = Picture { rows: 0, columns: 0, channels: vec![vec![]], seen: vec![] };
    assert!(write_png(&empty).is_err());
}

#[test]
fn a_picture_that_is_too_large_is_refused_before_it_is_decoded() {
    let mut bytes = std::fs::read(super::fixture("rgba.png")).unwrap();
    bytes[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let mut crc = flate2::Crc::new();
    crc.update(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    let said = complaint("a.png", &bytes);
    assert!(said.contains("a picture of 65536 rows and 65536 columns does not fit in 74 bytes"), "{said}");
}
