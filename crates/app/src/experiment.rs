//! Experiments: the studies by their names, what files describe, and playing them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use truenorth_paper::Study;
use truenorth_sim::{
    Figure, FigureResult, FileError, Job, Panel, Results, RunOutcome, Shares, play_run_unless, summarise,
};

use crate::certificate;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::work::{Progress, Work, pool};

/// A study by its name, or all of the paper's.
pub fn studies(name: &str) -> Result<Vec<Study>> {
    let known = Study::PAPER.into_iter().chain(Study::BEYOND);
    match known.clone().find(|study| study.name() == name) {
        Some(study) => Ok(vec![study]),
        None if name == "all" => Ok(Study::PAPER.to_vec()),
        None => Err(Error::NoStudy { name: name.to_owned(), known: known.map(Study::name).collect() }),
    }
}

/// The figure that a file describes, with so many runs of each panel, if they are given.
pub fn read(path: &Path, runs: Option<u64>) -> Result<Figure> {
    let content = fs::read(path).map_err(Error::file(path))?;
    // Every key has a default, but nobody plays an experiment by naming a file that says nothing.
    if content.split(|byte| *byte == b'\n').all(|line| matches!(line.trim_ascii(), [] | [b'#', ..])) {
        let comments = content.contains(&b'#');
        let reason = if comments { "there are comments, but no keys" } else { "the file is empty" };
        return Err(Error::input(path.display(), reason));
    }
    from_toml(path, &content, runs)
}

/// The figure that a text describes; `path` names it in messages, and certificates are beside it.
pub fn from_toml(path: &Path, content: &[u8], runs: Option<u64>) -> Result<Figure> {
    let certificate = |path: &Path| {
        certificate::read(path, None, 1.0).map_err(|error| {
            let reason = match error {
                Error::Input(wrong) => return wrong,
                Error::File { error, .. } => error.to_string(),
                other => other.to_string(),
            };
            FileError { place: path.display().to_string(), reason }
        })
    };
    let mut figure = Figure::from_toml(path, content, &certificate)?;
    for panel in &mut figure.panels {
        panel.runs = runs.unwrap_or(panel.runs);
    }
    Ok(figure)
}

/// What was played: the results, and what the results file has no place for.
pub struct Played {
    /// What is said about all runs.
    pub results: Results,
    /// For each figure, panel and policy: who decided, over all runs.
    pub shares: Vec<Vec<Vec<Shares>>>,
    journal: Option<Journal>,
}

impl Played {
    /// To be called when everything is written: forgets the finished runs.
    pub fn complete(self) -> Result<()> {
        self.journal.map_or(Ok(()), Journal::remove)
    }
}

/// Plays all runs of all figures. With a folder, finished runs are kept there until the results are complete, and
/// a second call goes on from them; so runs under way are finished after a stop.
pub fn play(figures: &[Figure], folder: Option<&Path>, work: Work<'_>) -> Result<Played> {
    let panels: Vec<&Panel> = figures.iter().flat_map(|figure| &figure.panels).collect();
    for panel in &panels {
        panel.check()?;
    }
    let pool = pool(work.threads)?;
    let (journal, mut outcomes) = match folder {
        None => (None, HashMap::new()),
        Some(folder) => Journal::open(folder, &panels).map(|(journal, runs)| (Some(journal), runs))?,
    };
    let all = panels.iter().enumerate().flat_map(|(panel, p)| (0..p.runs).map(move |run| Job { panel, run }));
    let all: Vec<Job> = all.collect();
    (work.progress)(Progress::Started { done: outcomes.len(), total: all.len() });
    let left: Vec<Job> = all.iter().copied().filter(|job| !outcomes.contains_key(job)).collect();
    // What is kept is whole.
    let never = AtomicBool::new(false);
    let stop = if journal.is_some() { &never } else { work.stop };
    let play = |&job: &Job| -> Result<Option<(Job, RunOutcome)>> {
        if work.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(outcome) = play_run_unless(panels[job.panel], job.run, stop, |_| ())? else {
            return Ok(None);
        };
        if let Some(journal) = &journal {
            journal.keep(job, &outcome)?;
        }
        (work.progress)(Progress::Finished);
        Ok(Some((job, outcome)))
    };
    let played: Result<Vec<_>> =
        pool.install(|| left.par_iter().with_max_len(1).filter_map(|job| play(job).transpose()).collect());
    outcomes.extend(played?);
    if outcomes.len() < all.len() {
        let folder = folder.map(Path::to_path_buf);
        return Err(Error::Interrupted { finished: outcomes.len(), total: all.len(), folder });
    }
    // In the order of the runs: sums do not depend on who finished first.
    let mut outcomes = all.iter().filter_map(|job| outcomes.remove(job));
    let mut played = Played { results: Results { figures: Vec::new() }, shares: Vec::new(), journal };
    for figure in figures {
        let panels = figure.panels.iter().map(|panel| {
            let runs: Vec<RunOutcome> = (0..panel.runs).filter_map(|_| outcomes.next()).collect();
            (summarise(panel, &runs.iter().collect::<Vec<_>>()), total_shares(&runs))
        });
        let (panels, shares) = panels.unzip();
        played.results.figures.push(FigureResult { name: figure.name.clone(), panels });
        played.shares.push(shares);
    }
    Ok(played)
}

/// Who decided, for each policy, over all runs.
fn total_shares(runs: &[RunOutcome]) -> Vec<Shares> {
    let mut total: Vec<Shares> = runs[0].policies.iter().map(|policy| policy.shares.clone()).collect();
    for run in &runs[1..] {
        total.iter_mut().zip(&run.policies).for_each(|(total, policy)| total.add(&policy.shares));
    }
    total
}
