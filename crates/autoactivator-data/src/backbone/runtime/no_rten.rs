//! Stands in for `rten` in a build without it: every model is refused with the name of the feature.

use super::{Graph, Network, Tensor, Tokens};

pub(super) enum PureRust {}

impl PureRust {
    pub(super) fn load(_onnx: Vec<u8>) -> Result<Self, String> {
        Err("this build runs no backbones: build with the feature `backbones`".to_owned())
    }
}

impl Network for PureRust {
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
