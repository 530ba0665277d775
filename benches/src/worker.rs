//! The worker: does one job after another, and keeps data and models between them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, Result};
use autoactivator::{Consolidation, Deployed, Model};
use autoactivator_data::dataset::Dataset;
use serde_json::Value;

use crate::data::DataSpec;
use crate::job::Job;
use crate::{extract, learn, memory, network, predict, share, teach};

/// Data and models that jobs share.
#[derive(Default)]
pub struct Worker {
    data_dir: Option<PathBuf>,
    datasets: HashMap<DataSpec, Rc<Dataset>>,
    models: HashMap<String, Model>,
}

impl Worker {
    /// A worker whose data sets known by name are folders in `data_dir`.
    pub fn new(data_dir: Option<PathBuf>) -> Self {
        Self {
            data_dir,
            ..Self::default()
        }
    }

    /// Does the job given as a line of JSON.
    pub fn answer(&mut self, line: &str) -> Result<Value> {
        let job = serde_json::from_str(line).context("not a job")?;
        self.run(&job)
    }

    /// Does one job.
    pub fn run(&mut self, job: &Job) -> Result<Value> {
        match job {
            Job::Share(job) => share::run(self, job),
            Job::Learn(job) => learn::run(self, job),
            Job::Observe(job) => memory::observe(self, job),
            Job::Recruit(job) => memory::recruit(self, job),
            Job::Teach(job) => teach::run(self, job),
            Job::Sums(job) => memory::sums(self, job),
            Job::Predict(job) => predict::run(self, job),
            Job::Onnx(job) => predict::export(self, job),
            Job::Extract(job) => extract::run(job),
            Job::Network(job) => network::run(job),
        }
    }

    pub(crate) fn dataset(&mut self, spec: &DataSpec) -> Result<Rc<Dataset>> {
        if let Some(dataset) = self.datasets.get(spec) {
            return Ok(dataset.clone());
        }
        let dataset = Rc::new(spec.open(self.data_dir.as_deref())?);
        self.datasets.insert(spec.clone(), dataset.clone());
        Ok(dataset)
    }

    pub(crate) fn keep(&mut self, name: &str, model: Model) {
        self.models.insert(name.to_owned(), model);
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.models.remove(name);
    }

    pub(crate) fn model(&self, name: &str) -> Result<&Model> {
        self.models
            .get(name)
            .with_context(|| format!("there is no model '{name}': run a learn job with `keep` first"))
    }

    pub(crate) fn consolidation(&self, name: &str) -> Result<&Consolidation> {
        let memory = self.model(name)?.consolidation();
        memory.with_context(|| no_memory(name))
    }

    pub(crate) fn consolidation_mut(&mut self, name: &str) -> Result<&mut Consolidation> {
        self.model(name)?;
        let model = self.models.get_mut(name);
        let memory = model.and_then(|model| model.consolidation_mut().ok());
        memory.with_context(|| no_memory(name))
    }

    pub(crate) fn deployed(&self, name: &str) -> Result<&Deployed> {
        let deployed = self.consolidation(name)?.deployed();
        deployed.with_context(|| format!("model '{name}' has learned nothing"))
    }
}

fn no_memory(name: &str) -> String {
    format!("model '{name}' has no memory: learn it with consolidation")
}
