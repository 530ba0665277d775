//! One field of each task, read without keeping any other: what is passed over takes no memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::body;
use crate::problem::Problem;

/// The text in the field `field` of the `data` of each task in the list `tasks`; none where there is no text. Refuses more
/// than `most` tasks.
pub(super) fn of_each(
    bytes: &[u8],
    tasks: &str,
    field: &str,
    most: usize,
) -> Result<Vec<Option<String>>, Problem> {
    let mut found = Vec::new();
    let list = List {
        field,
        most,
        found: &mut found,
    };
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let read = Member {
        name: tasks,
        seed: list,
    }
    .deserialize(&mut parser);
    read.map_err(|error| body::unreadable(&error))?;
    Ok(found)
}

/// The value of one member of an object.
struct Member<'a, S> {
    name: &'a str,
    seed: S,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Member<'_, S> {
    type Value = Option<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Member<'_, S> {
    type Value = Option<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut seed, mut value) = (Some(self.seed), None);
        while let Some(is_it) = map.next_key_seed(Is(self.name))? {
            match seed.take_if(|_| is_it) {
                Some(seed) => value = Some(map.next_value_seed(seed)?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(value)
    }
}

/// Whether a key is this one.
struct Is<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// All tasks.
struct List<'a> {
    field: &'a str,
    most: usize,
    found: &'a mut Vec<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of tasks")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut tasks: A) -> Result<(), A::Error> {
        let task = || Member {
            name: "data",
            seed: Member {
                name: self.field,
                seed: Text,
            },
        };
        while let Some(text) = tasks.next_element_seed(task())? {
            if self.found.len() == self.most {
                let most = self.most;
                return Err(A::Error::custom(format!("more tasks than the limit of {most}")));
            }
            self.found.push(text.flatten().flatten());
        }
        Ok(())
    }
}

/// A text; anything else is none.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
