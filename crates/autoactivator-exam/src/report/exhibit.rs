//! What a row looks like to people: a picture, a sentence, or some of its numbers.
//!
//! A report shows the rows of mistakes. Whoever holds the data knows what they look like: [`of_pixels`] is for rows that
//! are images themselves; the command line adds photographs, sentences and tables.

use std::collections::BTreeMap;
use std::io::Write;

use autoactivator::ImageShape;
use autoactivator_data::dataset::Dataset;
use flate2::{Compression, Crc, write::ZlibEncoder};

use super::page::escape;
use crate::tally::Mistake;

/// What some rows look like, by their place among the test rows.
pub type Exhibits = BTreeMap<usize, Exhibit>;

/// What a row looks like.
#[derive(Clone, Debug, PartialEq)]
pub enum Exhibit {
    /// An image: its size, and red, green and blue of each pixel.
    Picture {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
        /// Three values a pixel, row by row.
        rgb: Vec<u8>,
    },
    /// A sentence.
    Sentence(String),
    /// Some features by name.
    Numbers(Vec<(String, f32)>),
}

/// What the rows of these mistakes look like, if the rows of the data set are images.
pub fn of_pixels(dataset: &Dataset, mistakes: &[Mistake]) -> Exhibits {
    let Some(shape) = dataset.image else {
        return Exhibits::new();
    };
    let x = dataset.test.x.rows();
    let rows = mistakes.iter().map(|mistake| mistake.row);
    let rows: Vec<(usize, &[f32])> = rows
        .filter(|&row| row < x.len())
        .map(|row| (row, x.row(row)))
        .collect();
    pictures(shape, &rows)
}

/// Rows of pixels as pictures. All have one scale, from the darkest to the lightest value among them.
pub fn pictures(shape: ImageShape, rows: &[(usize, &[f32])]) -> Exhibits {
    let values = || rows.iter().flat_map(|(_, values)| values.iter().copied());
    let (darkest, lightest) = (
        values().fold(f32::MAX, f32::min),
        values().fold(f32::MIN, f32::max),
    );
    let span = (lightest - darkest).max(f32::MIN_POSITIVE);
    let byte = |value: f32| ((value - darkest) / span * 255.0).round() as u8;
    let picture = |values: &[f32]| Exhibit::Picture {
        width: shape.width as u32,
        height: shape.height as u32,
        rgb: values
            .chunks(shape.channels.max(1))
            .flat_map(|pixel| {
                let of = |channel: usize| byte(pixel[channel.min(pixel.len() - 1)]);
                [of(0), of(1), of(2)]
            })
            .collect(),
    };
    let fitting = rows.iter().filter(|(_, values)| values.len() == shape.n_values());
    fitting.map(|(row, values)| (*row, picture(values))).collect()
}

impl Exhibit {
    /// As an element of a page, described in these words.
    pub(super) fn html(&self, words: &str) -> String {
        let words = escape(words);
        match self {
            Self::Picture { width, height, rgb } => {
                let png = base64(&png(*width, *height, rgb));
                // Few pixels are shown as squares, not as a blur.
                let class = if (*width).max(*height) <= 32 {
                    " class=\"coarse\""
                } else {
                    ""
                };
                format!("<img{class} src=\"data:image/png;base64,{png}\" alt=\"{words}\">")
            }
            Self::Sentence(text) => format!("<blockquote>{}</blockquote>", escape(text)),
            Self::Numbers(numbers) => {
                let pair =
                    |(name, value): &(String, f32)| format!("<span>{} <b>{value}</b></span>", escape(name));
                let pairs: String = numbers.iter().map(pair).collect();
                format!("<div class=\"numbers\">{pairs}</div>")
            }
        }
    }
}

/// A PNG file of these pixels.
fn png(width: u32, height: u32, rgb: &[u8]) -> Vec<u8> {
    let mut lines = ZlibEncoder::new(Vec::new(), Compression::best());
    for line in rgb.chunks((width as usize * 3).max(1)) {
        // Each line begins with its filter: none. A vector takes everything.
        let _ = lines.write_all(&[0]).and_then(|()| lines.write_all(line));
    }
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // 8 bits a value, red, green and blue; the only compression, filters and order of lines that exist or are simple.
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [
        (b"IHDR", header),
        (b"IDAT", lines.finish().unwrap_or_default()),
        (b"IEND", Vec::new()),
    ] {
        let mut checked = kind.to_vec();
        checked.extend(&content);
        let mut sum = Crc::new();
        sum.update(&checked);
        file.extend((content.len() as u32).to_be_bytes());
        file.extend(checked);
        file.extend(sum.sum().to_be_bytes());
    }
    file
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |k: usize| u32::from(three.get(k).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize];
            text.push(if k > three.len() { '=' } else { letter.into() });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_by_hand() {
        let shown = ["", "f", "fo", "foo", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(shown, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYmFy"]);
    }

    #[test]
    fn rows_of_pixels_become_pictures_on_one_scale() {
        let shape = ImageShape {
            height: 1,
            width: 2,
            channels: 1,
        };
        let rows: [(usize, &[f32]); 3] = [(0, &[0.0, 8.0]), (1, &[16.0, 0.0]), (2, &[1.0])];
        let found = pictures(shape, &rows);
        assert_eq!(found.len(), 2, "a row of another width is no picture");
        let Exhibit::Picture { rgb, .. } = &found[&0] else {
            unreachable!()
        };
        assert_eq!(rgb, &[0, 0, 0, 128, 128, 128]);
    }

    #[test]
    fn a_picture_is_a_png_and_words_are_escaped() {
        let file = png(2, 1, &[255, 0, 0, 0, 0, 255]);
        assert!(file.starts_with(b"\x89PNG") && file.ends_with(b"IEND\xaeB`\x82"));
        let html = Exhibit::Sentence("<b>".into()).html("");
        assert_eq!(html, "<blockquote>&lt;b&gt;</blockquote>");
    }
}
