//! multipart/form-data: the named parts of a body, borrowed from its bytes. A pure function of bytes, like
//! everything in [`body`](crate::body).

use crate::problem::Problem;

/// Largest head of a part, in bytes.
const HEAD: usize = 4096;

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Name of the field.
    pub name: String,
    /// Content of the field.
    pub content: &'a [u8],
}

/// The parts of a form, in order; refuses more than `most`.
pub fn parts<'a>(content_type: &str, bytes: &'a [u8], most: usize) -> Result<Vec<Part<'a>>, Problem> {
    let boundary = boundary(content_type)
        .ok_or_else(|| Problem::bad_request("the content type of a form must name its boundary"))?;
    let between = [b"\r\n--", boundary.as_bytes()].concat();
    // What precedes the first boundary is not a part; the first boundary may lack the line break.
    let mut rest = match bytes.strip_prefix(&between[2..]) {
        Some(rest) => rest,
        None => split_at(bytes, &between).ok_or_else(cut_short)?.1,
    };
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        if parts.len() == most {
            return Err(Problem::too_large(format!(
                "the form has more than {most} fields"
            )));
        }
        let head = rest.strip_prefix(b"\r\n").ok_or_else(cut_short)?;
        let (head, after) = split_head(head)?;
        let (content, after) = split_at(after, &between).ok_or_else(cut_short)?;
        let name = name(head).ok_or_else(|| {
            let place = parts.len();
            Problem::bad_request(format!("field {place} of the form has no name"))
        })?;
        parts.push(Part { name, content });
        rest = after;
    }
    Ok(parts)
}

fn cut_short() -> Problem {
    Problem::bad_request("the form is cut short or its boundary differs from that of the content type")
}

/// Splits a part into its head, which may be empty, and the rest.
fn split_head(rest: &[u8]) -> Result<(&[u8], &[u8]), Problem> {
    if let Some(after) = rest.strip_prefix(b"\r\n") {
        return Ok((&[], after));
    }
    let looked_at = &rest[..rest.len().min(HEAD)];
    let (head, _) = split_at(looked_at, b"\r\n\r\n").ok_or_else(cut_short)?;
    Ok((head, &rest[head.len() + 4..]))
}

/// Splits bytes at the first `mark`.
fn split_at<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = bytes.windows(mark.len()).position(|window| window == mark)?;
    Some((&bytes[..at], &bytes[at + mark.len()..]))
}

fn boundary(content_type: &str) -> Option<&str> {
    let boundary = parameter(content_type, "boundary")?;
    (1..=70).contains(&boundary.len()).then_some(boundary)
}

/// The name in `Content-Disposition: form-data; name="class"`.
fn name(head: &[u8]) -> Option<String> {
    let head = str::from_utf8(head).ok()?;
    let value = head.split("\r\n").find_map(|line| {
        let (field, value) = line.split_once(':')?;
        field
            .trim()
            .eq_ignore_ascii_case("content-disposition")
            .then_some(value)
    })?;
    parameter(value, "name").map(str::to_owned)
}

/// A parameter of a header value, quoted or not. A quoted one ends at the next quote: escaped quotes are not supported.
fn parameter<'a>(value: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (found, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after
                .split_once(';')
                .map_or((after, ""), |(found, _)| (found, &after[found.len()..])),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(found.trim_end());
        }
        rest = after.trim_start().strip_prefix(';')?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=\"x y\"";

    fn read(body: &str) -> Result<Vec<(String, String)>, Problem> {
        let parts = parts(TYPE, body.as_bytes(), 3)?.into_iter();
        let text = |part: Part<'_>| (part.name, String::from_utf8_lossy(part.content).into_owned());
        Ok(parts.map(text).collect())
    }

    #[test]
    fn fields_come_in_order_with_whatever_they_hold() {
        let body = "ignored\r\n--x y\r\nContent-Disposition: form-data; name=\"class\"\r\n\r\nfive\r\n--x y\r\n\
                    content-type: image/png\r\ncontent-disposition: form-data; filename=\"a;b.png\"; name=image\r\n\r\n\
                    \r\n--x\r\n\r\n--x y--\r\nignored";
        let expected = [("class", "five"), ("image", "\r\n--x\r\n")];
        assert_eq!(
            read(body).unwrap(),
            expected.map(|(n, c)| (n.to_owned(), c.to_owned()))
        );
        assert_eq!(read("--x y--").unwrap(), []);
    }

    #[test]
    fn what_is_no_form_is_refused() {
        let part = "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x y";
        assert_eq!(read(&format!("--x y{part}--")).unwrap().len(), 1);
        let too_many = format!("--x y{}--", part.repeat(4));
        assert_eq!(read(&too_many).unwrap_err().kind, "TooLarge");
        for body in [
            "",
            "--x y",
            "--x y\r\n",
            "--x y\r\n\r\n\r\n--x y--",
            &format!("--x y{part}"),
        ] {
            assert_eq!(read(body).unwrap_err().kind, "BadRequest", "{body:?}");
        }
        assert!(parts("multipart/form-data", b"", 3).is_err());
        assert!(parts("multipart/form-data; boundary=", b"--", 3).is_err());
    }
}
