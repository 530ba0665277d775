//! The labelling interface: the part of Label Studio's XML that says what is labelled, and with which choices.
//!
//! Only tags and their attributes are looked at, in one pass from front to back.

use std::collections::HashMap;

use crate::problem::Problem;

/// Longest interface that is looked at, in bytes.
const LONGEST: usize = 1 << 20;

/// Longest name in an interface, in bytes: every prediction repeats it.
const LONGEST_NAME: usize = 200;

/// What is labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Image,
}

/// An interface of choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    /// The name of the choices.
    pub(super) from_name: String,
    /// The name of what they are about.
    pub(super) to_name: String,
    pub(super) kind: Kind,
    /// The field of a task that holds it.
    pub(super) field: String,
}

/// A tag and its attributes.
#[derive(Debug, Default)]
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, String)>,
}

impl Tag<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self
            .attributes
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl Interface {
    /// The first choices of an interface about a text or an image.
    pub(super) fn of(xml: &str) -> Result<Self, Problem> {
        if xml.len() > LONGEST {
            return Err(Problem::too_large(format!(
                "the labelling interface is longer than {LONGEST} bytes: shorten it"
            )));
        }
        let tags = tags(xml);
        let mut about = HashMap::new();
        for tag in tags.iter().filter(|tag| ["Text", "Image"].contains(&tag.name)) {
            if let Some(name) = tag.get("name") {
                about.entry(name).or_insert(tag);
            }
        }
        let missing = || {
            Problem::bad_request(
                "the labelling interface has no <Choices> about a <Text> or an <Image>: only these can be learned",
            )
        };
        let choices = tags.iter().filter(|tag| tag.name == "Choices");
        let mut found = choices.filter_map(|choices| {
            let (from_name, to_name) = (choices.get("name")?, choices.get("toName")?);
            let about = about.get(to_name)?;
            Some(Self {
                from_name: from_name.to_owned(),
                to_name: to_name.to_owned(),
                kind: if about.name == "Text" {
                    Kind::Text
                } else {
                    Kind::Image
                },
                field: about.get("value")?.strip_prefix('$')?.to_owned(),
            })
        });
        let found = found.next().ok_or_else(missing)?;
        let names = [&found.from_name, &found.to_name];
        if names.iter().any(|name| name.len() > LONGEST_NAME) {
            return Err(Problem::too_large(format!(
                "a name in the labelling interface is longer than {LONGEST_NAME} bytes: shorten it"
            )));
        }
        Ok(found)
    }
}

/// The tags of an XML text that open; whatever is not well formed is passed over.
fn tags(xml: &str) -> Vec<Tag<'_>> {
    let (mut tags, mut rest) = (Vec::new(), xml);
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        rest = after;
        if !name.is_empty() {
            let mut tag = Tag {
                name,
                ..Tag::default()
            };
            while let Some((attribute, after)) = attribute(rest) {
                tag.attributes.push(attribute);
                rest = after;
            }
            tags.push(tag);
        }
    }
    tags
}

/// The next attribute of a tag, and what follows it.
fn attribute(text: &str) -> Option<((&str, String), &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)))?;
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| "\"'".contains(*c))?;
    let (value, after) = rest[1..].split_once(quote)?;
    Some(((name, unescaped(value)), after))
}

/// A value with its entities replaced.
fn unescaped(value: &str) -> String {
    const ENTITIES: [(&str, &str); 5] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    let replaced = |text: String, (entity, sign): (&str, &str)| text.replace(entity, sign);
    ENTITIES.into_iter().fold(value.to_owned(), replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_about_texts_and_images_are_found() {
        let text = r#"<View> <!-- <Choices name="old" toName="text"/> -->
            <Header value="What is it about?"/><Text name="text" value="$message" granularity='word'/>
            <Choices  name = "topic" toName="text" choice="single"><Choice value="a &lt; b"/></Choices></View>"#;
        let found = Interface::of(text).unwrap();
        assert_eq!(
            (&*found.from_name, &*found.to_name, found.kind, &*found.field),
            ("topic", "text", Kind::Text, "message")
        );
        let image = r#"<View><Choices name="c" toName="i"/><Image name="i" value="$image"/></View>"#;
        assert_eq!(Interface::of(image).unwrap().kind, Kind::Image);
    }

    #[test]
    fn an_interface_of_many_tags_or_long_names_is_refused_at_once() {
        let many = "<Choices name='a' toName='b'/><Text name='c' value='$d'/>";
        assert!(Interface::of(&many.repeat(LONGEST / many.len())).is_err());
        let long = "a".repeat(LONGEST_NAME + 1);
        let long = format!("<Choices name='{long}' toName='t'/><Text name='t' value='$t'/>");
        for xml in [long, "<a".repeat(LONGEST)] {
            assert_eq!(Interface::of(&xml).unwrap_err().kind, "TooLarge");
        }
    }

    #[test]
    fn other_interfaces_are_refused() {
        for xml in [
            "",
            "<",
            "<<<>>>\"'",
            "<View></View>",
            r#"<Choices name="c" toName="a"/><Audio name="a" value="$a"/>"#,
            r#"<Choices name="c" toName="t"/><Text name="t" value="plain"/>"#,
            r#"<Choices name="c" toName="t/><Text name="t" value="$t"/>"#,
            "<!-- <Choices",
        ] {
            let error = Interface::of(xml).unwrap_err();
            assert!(error.message.contains("<Choices>"), "{xml}");
        }
    }
}
