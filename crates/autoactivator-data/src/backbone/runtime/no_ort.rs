//! Stands in for ONNX Runtime in a build without it: every model is refused with the name of the feature.

use super::{Graph, Network, Refusal, Tensor, Tokens};

pub(super) enum OnnxRuntime {}

pub(super) fn installed<T>() -> Result<T, Refusal> {
    let reason = "this build does not use ONNX Runtime: build with the feature `ort`";
    Err(Refusal::Absent(reason.to_owned()))
}

impl OnnxRuntime {
    pub(super) fn load(_onnx: &[u8]) -> Result<Self, Refusal> {
        installed()
    }
}

impl Network for OnnxRuntime {
    fn runtime(&self) -> String {
        match *self {}
    }

    fn graph(&self) -> Graph {
        match *self {}
    }

    fn run(&self, _input: Tensor, _outputs: &[String]) -> Result<Vec<Tensor>, String> {
        match *self {}
    }

    fn run_on_tokens(&self, _inputs: &[(&str, Tokens)], _output: &str) -> Result<Tensor, String> {
        match *self {}
    }
}
