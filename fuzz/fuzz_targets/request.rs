//! Request bodies of any content type are refused with a reason, or stay within every limit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use autoactivator_server::Limits;
use autoactivator_server::body::{self, Input};
use autoactivator_server::{inference, label_studio};

// The first line is the content type.
fuzz_target!(|request: &[u8]| {
    let end = request
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap_or(request.len());
    let (content_type, body) = (
        String::from_utf8_lossy(&request[..end]),
        request.get(end + 1..).unwrap_or_default(),
    );
    let limits = Limits {
        rows: 50,
        ..Limits::default()
    };
    if let Ok(lesson) = body::learn(&content_type, body, &limits) {
        assert_eq!(lesson.input.len(), lesson.classes.len());
        assert!(
            lesson
                .classes
                .iter()
                .all(|class| !class.is_empty() && class.chars().count() <= limits.class_name)
        );
        check(&lesson.input, &limits, body);
    }
    if let Ok(question) = body::predict(&content_type, body, &limits) {
        assert!((0.0..=1.0).contains(&question.reject));
        check(&question.input, &limits, body);
    }
    let _ = body::merge(&content_type, body);
    // Of a body with binary tensors, the content type is not looked at: here it says how many bytes are JSON.
    let json_length = content_type.parse().ok();
    if let Ok(question) = inference::request::read(json_length, body, &limits) {
        assert!((0.0..=1.0).contains(&question.asked.reject));
    }
    let _ = label_studio::request::setup(&content_type, body);
    let _ = label_studio::request::tasks(&content_type, body, &limits);
    if let Ok(lesson) = label_studio::request::lesson(&content_type, body, &limits) {
        assert!(lesson.items.len() == lesson.classes.len() && lesson.items.len() <= limits.rows);
    }
});

fn check(input: &Input<'_>, limits: &Limits, body: &[u8]) {
    assert!((1..=limits.rows).contains(&input.len()));
    match input {
        Input::Rows(table) => assert!(table.rows().values().len() <= body.len()),
        Input::Texts(texts) => assert!(texts.iter().map(String::len).sum::<usize>() <= body.len()),
        Input::Images(images) => assert!(images.iter().map(|image| image.len()).sum::<usize>() <= body.len()),
    }
}
