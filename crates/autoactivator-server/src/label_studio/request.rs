//! From what Label Studio sends to tasks and lessons: pure functions of bytes, so that they can be fuzzed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::config::{Interface, Kind};
use super::field;
use crate::body;
use crate::limits::Limits;
use crate::problem::Problem;

/// Something to label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A sentence.
    Text(String),
    /// The content of an image file.
    Image(Vec<u8>),
}

impl Item {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(_) => None,
        }
    }

    pub(super) fn image(&self) -> Option<&[u8]> {
        match self {
            Self::Image(bytes) => Some(bytes),
            Self::Text(_) => None,
        }
    }
}

/// Tasks that predictions are wanted for.
pub struct Tasks {
    pub(super) interface: Interface,
    pub(super) items: Vec<Item>,
}

/// Annotations to learn; none if what happened teaches nothing.
#[derive(Debug, Default)]
pub struct Lesson {
    /// What was labelled.
    pub items: Vec<Item>,
    /// The choice for each.
    pub classes: Vec<String>,
    /// Which annotations these are, so that they count once.
    pub key: String,
}

/// A task; what else it has is of no interest.
#[derive(Deserialize)]
struct Task {
    #[serde(default)]
    data: Map<String, Value>,
}

#[derive(Deserialize)]
struct Annotation {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    was_cancelled: bool,
    #[serde(default)]
    result: Vec<Region>,
}

/// One entry of an annotation.
#[derive(Deserialize)]
struct Region {
    #[serde(default)]
    from_name: String,
    #[serde(default)]
    value: Map<String, Value>,
}

#[derive(Deserialize)]
struct Project {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    label_config: String,
}

/// One or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Sent<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> Sent<T> {
    fn all(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Several(several) => several,
        }
    }
}

/// Reads the request that connects a project, and refuses interfaces whose labels cannot be learned.
pub fn setup(content_type: &str, bytes: &[u8]) -> Result<(), Problem> {
    #[derive(Deserialize)]
    struct Body {
        schema: String,
    }
    let body: Body = body::json(content_type, bytes)?;
    Interface::of(&body.schema).map(|_| ())
}

/// Reads a request for predictions.
pub fn tasks(content_type: &str, bytes: &[u8], limits: &Limits) -> Result<Tasks, Problem> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(rename = "tasks")]
        _tasks: IgnoredAny,
        label_config: String,
    }
    let body: Body = body::json(content_type, bytes)?;
    let interface = Interface::of(&body.label_config)?;
    // Only now is it known which field of the tasks is wanted. All others are passed over, however many there are.
    let found = field::of_each(bytes, "tasks", &interface.field, limits.rows)?;
    let items = found.iter().enumerate();
    let items = items
        .map(|(place, text)| item(&interface, text.as_deref(), place))
        .collect::<Result<_, _>>()?;
    Ok(Tasks { interface, items })
}

/// Reads a webhook. New annotations with one choice are a lesson; whatever else happens in a project teaches nothing. That
/// includes changed annotations, because Label Studio does not say what they were before.
pub fn lesson(content_type: &str, bytes: &[u8], limits: &Limits) -> Result<Lesson, Problem> {
    #[derive(Deserialize)]
    struct Event {
        action: String,
    }
    #[derive(Deserialize)]
    struct Body {
        annotation: Sent<Annotation>,
        task: Option<Sent<Task>>,
        project: Project,
    }
    let event: Event = body::json(content_type, bytes)?;
    if !["ANNOTATION_CREATED", "ANNOTATIONS_CREATED"].contains(&event.action.as_str()) {
        return Ok(Lesson::default());
    }
    let body: Body = body::json(content_type, bytes)?;
    let interface = Interface::of(&body.project.label_config)?;
    let (annotations, tasks) = (
        body.annotation.all(),
        body.task.map(Sent::all).unwrap_or_default(),
    );
    if annotations.len() != tasks.len() {
        return Err(Problem::bad_request(
            "the webhook does not bring the task of each annotation along: let Label Studio send the payload",
        ));
    }
    body::check_most(annotations.len(), limits)?;
    let mut lesson = Lesson {
        key: format!("label-studio {}", body.project.id),
        ..Lesson::default()
    };
    for (place, (annotation, task)) in annotations.iter().zip(&tasks).enumerate() {
        let Some(class) = choice(&interface, annotation) else {
            continue;
        };
        body::check_class(class, limits)?;
        let text = task.data.get(&interface.field).and_then(Value::as_str);
        lesson.items.push(item(&interface, text, place)?);
        lesson.classes.push(class.to_owned());
        lesson.key += &format!(" {}", annotation.id);
    }
    Ok(lesson)
}

/// The choice of an annotation; none if it was skipped, or has none or several.
fn choice<'a>(interface: &Interface, annotation: &'a Annotation) -> Option<&'a str> {
    let of_choices = |region: &&Region| region.from_name == interface.from_name;
    let region = annotation.result.iter().find(of_choices)?;
    match region.value.get("choices")?.as_array()?.as_slice() {
        [one] if !annotation.was_cancelled => one.as_str(),
        _ => None,
    }
}

/// What a task is about.
fn item(interface: &Interface, text: Option<&str>, place: usize) -> Result<Item, Problem> {
    let missing = || {
        let field = shown(&interface.field);
        Problem::bad_request(format!("task {place} has no text in `{field}`"))
    };
    let text = text.ok_or_else(missing)?;
    match interface.kind {
        Kind::Text => Ok(Item::Text(text.to_owned())),
        Kind::Image => image(text, place).map(Item::Image),
    }
}

/// The image in a `data:` address. The server never fetches anything, so other addresses are refused.
fn image(address: &str, place: usize) -> Result<Vec<u8>, Problem> {
    let content = address
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    let (_, content) = content.ok_or_else(|| {
        Problem::bad_request(format!(
            "the image of task {place} is an address, and the server fetches nothing: import tasks whose images are \
             base64 data (data:image/...;base64,...)"
        ))
    })?;
    let wrong = |_| Problem::bad_request(format!("the image of task {place} is not base64"));
    STANDARD.decode(content.trim()).map_err(wrong)
}

/// A name from a request, for people.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const JSON: &str = "application/json";
    const TEXTS: &str =
        r#"<View><Text name="text" value="$ner"/><Choices name="topic" toName="text"/></View>"#;
    const IMAGES: &str =
        r#"<View><Image name="img" value="$image"/><Choices name="topic" toName="img"/></View>"#;

    fn annotation(id: u32, choices: &Value) -> Value {
        let value = json!({ "choices": choices });
        let result = json!([{ "from_name": "topic", "to_name": "text", "type": "choices", "value": value }]);
        json!({ "id": id, "result": result, "was_cancelled": false, "task": 19, "completed_by": 1 })
    }

    fn read(body: &Value) -> Result<Lesson, String> {
        lesson(JSON, body.to_string().as_bytes(), &Limits::default()).map_err(|problem| problem.message)
    }

    #[test]
    fn new_annotations_are_a_lesson() {
        let body = json!({
            "action": "ANNOTATION_CREATED",
            "annotation": annotation(17, &json!(["Animals"])),
            "task": { "id": 19, "data": { "ner": "Opossums like trees." }, "is_labeled": true },
            "project": { "id": 2, "title": "New Project #2", "label_config": TEXTS },
        });
        let lesson = read(&body).unwrap();
        assert_eq!(lesson.items, [Item::Text("Opossums like trees.".to_owned())]);
        assert_eq!(
            (lesson.classes, lesson.key),
            (vec!["Animals".to_owned()], "label-studio 2 17".to_owned())
        );
        let several = json!({
            "action": "ANNOTATIONS_CREATED",
            "annotation": [annotation(1, &json!(["a"])), annotation(2, &json!(["b"])), annotation(3, &json!([]))],
            "task": [{ "data": { "ner": "x" } }, { "data": { "ner": "y" } }, { "data": { "ner": "z" } }],
            "project": { "id": 2, "label_config": TEXTS },
        });
        assert_eq!(read(&several).unwrap().classes, ["a", "b"]);
    }

    #[test]
    fn other_fields_of_tasks_are_passed_over() {
        let read = |tasks: &str| {
            let body = format!(r#"{{"tasks": {tasks}, "label_config": {}}}"#, json!(TEXTS));
            let limits = Limits {
                rows: 2,
                ..Limits::default()
            };
            tasks_of(&body, &limits)
        };
        let one = Item::Text("a".to_owned());
        let (first, last) = (
            r#"{"id": 1, "data": {"ner": "a", "x": [{}]}}"#,
            r#"{"data": {"": {"ner": "b"}, "ner": "a"}}"#,
        );
        assert_eq!(read(&format!("[{first}, {last}]")).unwrap(), [one.clone(), one]);
        for (wrong, part) in [
            ("{}".to_owned(), "a list"),
            ("[[]]".to_owned(), "an object"),
            ("[1]".to_owned(), "an object"),
            ("[{}]".to_owned(), "task 0 has no text in `ner`"),
            (r#"[{"data": {"ner": 1}}]"#.to_owned(), "task 0 has no text"),
            (format!("[{first}, {first}, {last}]"), "limit of 2"),
        ] {
            let error = read(&wrong).unwrap_err();
            assert!(error.contains(part), "{wrong}: {error}");
        }
    }

    fn tasks_of(body: &str, limits: &Limits) -> Result<Vec<Item>, String> {
        let read = tasks(JSON, body.as_bytes(), limits);
        read.map(|tasks| tasks.items).map_err(|problem| problem.message)
    }

    #[test]
    fn images_come_as_data() {
        let asked = |address: &str| {
            let body =
                json!({ "tasks": [{ "id": 1, "data": { "image": address } }], "label_config": IMAGES });
            tasks(JSON, body.to_string().as_bytes(), &Limits::default())
        };
        let found = asked("data:image/png;base64,aGVsbG8=").ok().unwrap();
        assert_eq!(found.items, [Item::Image(b"hello".to_vec())]);
        for (address, part) in [
            ("/data/upload/1/a.png", "fetches nothing"),
            ("http://127.0.0.1/a.png", "fetches nothing"),
            ("data:image/png;base64,%%", "not base64"),
        ] {
            let problem = asked(address).err().unwrap();
            assert!(problem.message.contains(part), "{address}: {}", problem.message);
        }
    }

    #[test]
    fn whatever_else_happens_teaches_nothing() {
        let project = json!({ "id": 2, "label_config": TEXTS });
        for action in [
            "ANNOTATION_UPDATED",
            "ANNOTATIONS_DELETED",
            "TASKS_CREATED",
            "START_TRAINING",
        ] {
            let body =
                json!({ "action": action, "annotation": annotation(1, &json!(["a"])), "project": project });
            assert!(read(&body).unwrap().items.is_empty(), "{action}");
        }
        let mut skipped = annotation(1, &json!(["a"]));
        skipped["was_cancelled"] = json!(true);
        let task = json!({ "data": { "ner": "x" } });
        for annotation in [skipped, annotation(1, &json!(["a", "b"]))] {
            let body = json!({ "action": "ANNOTATION_CREATED", "annotation": annotation, "task": task, "project": project });
            assert!(read(&body).unwrap().items.is_empty());
        }
        let body = json!({ "action": "ANNOTATION_CREATED", "annotation": annotation(1, &json!(["a"])), "project": project });
        assert!(read(&body).unwrap_err().contains("bring the task"));
    }
}
