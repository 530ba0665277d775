//! The tensors in the middle of an ONNX graph: no runtime returns them unless they are outputs.
//!
//! [`Tensors`] lists the tensors of a file, and [`with_outputs`] makes a copy of it that returns more of them. Only the
//! fields that this takes are read; what is not an ONNX file is left to the runtime, which says what is wrong with it.

/// Field numbers of `onnx.proto`.
mod field {
    pub const GRAPH: u64 = 7; // of a model
    pub const NODE: u64 = 1; // of a graph
    pub const OUTPUT: u64 = 12;
    pub const NODE_INPUT: u64 = 1; // of a node
    pub const NODE_OUTPUT: u64 = 2;
    pub const OPERATOR: u64 = 4;
    pub const NAME: u64 = 1; // of an output
}

/// Operators whose results have the signs of what goes into them.
const KEEP_SIGNS: [&str; 8] = [
    "AveragePool",
    "Flatten",
    "GlobalAveragePool",
    "Identity",
    "MaxPool",
    "ReduceMean",
    "Reshape",
    "Squeeze",
];

/// A step of the graph.
pub(super) struct Step {
    pub(super) operator: String,
    inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
}

/// What a graph computes, step by step, and what it returns of that.
#[derive(Default)]
pub(super) struct Tensors {
    pub(super) steps: Vec<Step>,
    outputs: Vec<String>,
}

impl Tensors {
    /// Those of an ONNX file; none if it cannot be read.
    pub(super) fn of(onnx: &[u8]) -> Self {
        let mut tensors = Self::default();
        let graphs = Fields(onnx).filter(|part| part.number == field::GRAPH);
        for part in graphs.flat_map(|graph| Fields(graph.content)) {
            match part.number {
                field::NODE => tensors.steps.push(Step::of(part.content)),
                field::OUTPUT => tensors.outputs.extend(texts(part.content, field::NAME)),
                _ => {}
            }
        }
        tensors
    }

    /// Whether the graph computes a tensor without returning it.
    pub(super) fn hides(&self, name: &str) -> bool {
        let is = |known: &String| known == name;
        !self.outputs.iter().any(is) && self.steps.iter().any(|step| step.outputs.iter().any(is))
    }

    /// What enters the last convolution; none when it is the image itself, or there is no convolution.
    pub(super) fn before_last_convolution(&self) -> Option<&str> {
        let last = self.steps.iter().rev().find(|step| step.operator == "Conv")?;
        let input = last.inputs.first()?;
        self.hides(input).then_some(input)
    }
}

impl Tensors {
    /// Whether a tensor holds amounts: it comes from a rectifier, perhaps averaged over space or put into another shape.
    pub(super) fn are_amounts(&self, name: &str) -> bool {
        let mut name = name;
        for _ in 0..=self.steps.len() {
            let makes = |step: &&Step| step.outputs.iter().any(|output| output == name);
            let Some(step) = self.steps.iter().find(makes) else {
                return false;
            };
            match (step.operator.as_str(), step.inputs.first()) {
                ("Relu" | "Clip", _) => return true,
                (keeps, Some(input)) if KEEP_SIGNS.contains(&keeps) => name = input,
                _ => return false,
            }
        }
        false
    }
}

impl Step {
    fn of(node: &[u8]) -> Self {
        Self {
            operator: texts(node, field::OPERATOR).next().unwrap_or_default(),
            inputs: texts(node, field::NODE_INPUT).collect(),
            outputs: texts(node, field::NODE_OUTPUT).collect(),
        }
    }
}

/// A copy of an ONNX file that also returns these tensors; the same file when it cannot be read.
pub(super) fn with_outputs(onnx: Vec<u8>, names: &[String]) -> Vec<u8> {
    let mut parts = Fields(&onnx);
    let graph = parts.find(|part| part.number == field::GRAPH);
    let (Some(graph), false) = (graph, names.is_empty()) else {
        return onnx;
    };
    let after = parts.0;
    let before = onnx.len() - after.len() - graph.whole.len();
    let mut longer = graph.content.to_vec();
    names
        .iter()
        .for_each(|name| append(&mut longer, field::OUTPUT, &float_port(name)));
    let mut copy = onnx.get(..before).unwrap_or_default().to_vec();
    append(&mut copy, field::GRAPH, &longer);
    copy.extend_from_slice(after);
    copy
}

/// An output of 32-bit floats, of whatever shape it turns out to have.
fn float_port(name: &str) -> Vec<u8> {
    const FLOAT: [u8; 2] = [0x08, 0x01]; // elem_type
    let (mut port, mut kind) = (Vec::new(), Vec::new());
    append(&mut kind, 1, &FLOAT); // tensor_type
    append(&mut port, field::NAME, name.as_bytes());
    append(&mut port, 2, &kind); // type
    port
}

fn append(message: &mut Vec<u8>, number: u64, content: &[u8]) {
    for mut value in [number << 3 | 2, content.len() as u64] {
        while value >= 0x80 {
            message.push(value as u8 | 0x80);
            value >>= 7;
        }
        message.push(value as u8);
    }
    message.extend_from_slice(content);
}

/// The texts in the fields of this number.
fn texts(message: &[u8], number: u64) -> impl Iterator<Item = String> {
    let parts = Fields(message).filter(move |part| part.number == number);
    parts.map(|part| String::from_utf8_lossy(part.content).into_owned())
}

/// A field of a message: its number, its content if it has a length, and all of its bytes.
struct Field<'a> {
    number: u64,
    content: &'a [u8],
    whole: &'a [u8],
}

/// The fields of a message, up to its end or the first that is damaged.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let mut rest = self.0;
        let tag = varint(&mut rest)?;
        let length = match tag & 7 {
            0 => {
                varint(&mut rest)?;
                0
            }
            1 => 8,
            2 => usize::try_from(varint(&mut rest)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        let whole = self.0.get(..self.0.len() - rest.len())?;
        self.0 = rest;
        Some(Field {
            number: tag >> 3,
            content,
            whole,
        })
    }
}

/// Seven bits per byte, the lowest first; the highest bit says that more follow.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(parts: &[(u64, &[u8])]) -> Vec<u8> {
        let mut message = Vec::new();
        for (number, content) in parts {
            append(&mut message, *number, content);
        }
        message
    }

    fn model() -> Vec<u8> {
        let node = |operator: &str, input: &str, output: &str| {
            message(&[
                (1, input.as_bytes()),
                (2, output.as_bytes()),
                (4, operator.as_bytes()),
            ])
        };
        let graph = message(&[
            (1, &node("Conv", "image", "a")),
            (1, &node("Relu", "a", "b")),
            (1, &node("Conv", "b", "c")),
            (1, &node("Flatten", "c", "features")),
            (12, &message(&[(1, b"features")])),
        ]);
        [vec![8, 8], message(&[(7, &graph), (8, b"\x10\x11")])].concat()
    }

    #[test]
    fn tensors_in_the_middle_are_found() {
        let tensors = Tensors::of(&model());
        assert!(tensors.hides("c") && !tensors.hides("features") && !tensors.hides("image"));
        assert_eq!(tensors.before_last_convolution(), Some("b"));
        assert!(tensors.are_amounts("b") && !tensors.are_amounts("features"));
    }

    #[test]
    fn an_output_is_added_and_nothing_else_changes() {
        let more = with_outputs(model(), &["b".to_owned()]);
        let tensors = Tensors::of(&more);
        assert_eq!(tensors.outputs, ["features", "b"]);
        assert_eq!(tensors.steps.len(), 4);
        assert!(more.starts_with(&[8, 8]) && more.ends_with(b"\x10\x11"));
        assert_eq!(with_outputs(model(), &[]), model());
    }

    #[test]
    fn what_is_damaged_is_read_as_far_as_it_goes() {
        let whole = model();
        for end in 0..whole.len() {
            let _ = Tensors::of(&whole[..end]);
            let _ = with_outputs(whole[..end].to_vec(), &["b".to_owned()]);
        }
        assert!(Tensors::of(&[0xff; 40]).steps.is_empty());
        assert_eq!(with_outputs(vec![0xff; 40], &["b".to_owned()]), [0xff; 40]);
    }
}
