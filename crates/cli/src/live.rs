//! `truenorth demo --live`: the service, and a simulated shop that calls it.
//!
//! It is the shop of the tour. Two bandits serve the same visitors, one with the logs of last summer and one without.

use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use truenorth_service::{Options, serve};

use crate::demo::check_own;
use crate::failure::Failure;
use crate::output::{make_folder, write_whole};
use crate::serve::{not_served, stopped};
use crate::shop;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The service with a simulated shop that calls it, and a page that moves, until Ctrl-C
    #[arg(long)]
    pub(crate) live: bool,
    /// With --live: address and port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8700", requires = "live", value_parser = crate::serve::address)]
    listen: SocketAddr,
    /// With --live: stop after so many visitors
    #[arg(long, value_name = "N", requires = "live")]
    visitors: Option<u64>,
    /// With --live: visitors a second; 0 for as many as it can
    #[arg(long, value_name = "N", default_value_t = 20, requires = "live", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    rate: u32,
}

const BANDITS: [&str; 2] = ["with-logs", "without-logs"];
/// What `summarize` makes of the shop's log, for the bandit that has none.
const MODEL: &str = "id + price + customer:id";

pub(crate) fn run(arguments: &Arguments, folder: &Path, output: &mut impl Write) -> Result<(), Failure> {
    if !arguments.listen.ip().is_loopback() {
        let sentence = format!(
            "`--listen` {}: the demo listens on this machine only, as at 127.0.0.1:8700",
            arguments.listen
        );
        return Err(Failure::Call(sentence));
    }
    make_folder(folder)?;
    let [file, summary] = ["logs.csv", "logs.tn"].map(|name| folder.join(name).display().to_string());
    let logs = shop::logs();
    check_own(folder, &[("logs.csv", logs.clone())], &["logs.tn"])?;
    write_whole(Path::new(&file), logs.as_bytes())?;
    crate::printed(
        &["summarize", &file, "--action", "item,price", "--reward", "bought", "-o", &summary],
        "",
    )?;
    let options = Options {
        listen: arguments.listen,
        data: folder.join("live"),
        token: None,
        read_token: None,
        open: false,
        keep_days: None,
        journal: None,
        bandits: BANDITS.map(str::to_owned).into_iter().zip([summary, MODEL.to_owned()]).collect(),
    };
    let failed = |error: &dyn std::fmt::Display| Failure::Service(error.to_string());
    let runtime = tokio::runtime::Runtime::new().map_err(|error| failed(&error))?;
    let stop = Arc::new(AtomicBool::new(false));
    let told = runtime.block_on(async {
        let listening = serve(options).await.map_err(not_served)?;
        let address = listening.address;
        write!(output, "{}", words(address, folder))
            .and_then(|()| output.flush())
            .map_err(Failure::Output)?;
        let (done, mut closed) = tokio::sync::oneshot::channel();
        let (shop_stop, rate, visitors) = (Arc::clone(&stop), arguments.rate, arguments.visitors);
        let shop = thread::spawn(move || {
            let told = Shop::open(address).and_then(|shop| shop.serve(&shop_stop, rate, visitors));
            let _ = done.send(());
            told
        });
        // The shop closes before the service does.
        let over = async move {
            tokio::select! { () = stopped() => {}, _ = &mut closed => return }
            stop.store(true, Ordering::Relaxed);
            let _ = closed.await;
        };
        listening.run(over).await.map_err(|error| failed(&error))?;
        let told = tokio::task::spawn_blocking(move || shop.join()).await.map_err(|error| failed(&error))?;
        told.map_err(|_| failed(&"the shop has stopped"))?.map_err(|error| failed(&error))
    })?;
    write!(output, "{told}").map_err(Failure::Output)
}

fn words(address: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "Open http://{address} and watch; Ctrl-C closes the shop.\n\n\
         The shop has logs of last summer. Now it is winter, and nobody wants sunscreen any more. Two bandits serve the\n\
         same visitors: `with-logs` knows the summer, `without-logs` starts from nothing.\n\n\
         What to look at:\n\
         - Mean reward: at first below what the logs predicted, often for some seconds only, until the sunscreen is found out.\n\
         - Reliance on the logs, by feature: that on `item=sunscreen` falls, that on the rest stays.\n\
         - Try a decision: students are shown a game, pensioners a novel, and why.\n\n\
         The logs are {folder}/logs.csv, their summary is {folder}/logs.tn, the service's folder is {folder}/live.\n"
    )
}

/// A shop that asks the service what to show, and tells it what was bought.
struct Shop {
    connection: BufReader<TcpStream>,
}

impl Shop {
    fn open(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { connection: BufReader::new(stream) })
    }

    /// Serves visitors until it is told to stop, and tells how it went.
    fn serve(mut self, stop: &AtomicBool, rate: u32, visitors: Option<u64>) -> std::io::Result<String> {
        let (begun, mut served, mut earned, mut best) = (Instant::now(), 0_u64, [0.0; 2], 0.0);
        for visit in shop::visits() {
            if stop.load(Ordering::Relaxed) || visitors == Some(served) {
                break;
            }
            // Both bandits meet the same visitor in the same mood.
            for (name, earned) in BANDITS.into_iter().zip(&mut earned) {
                let decided = self.post(&format!("/v1/bandits/{name}/decisions"), &visit.event())?;
                let item = decided["action_index"].as_u64().and_then(|item| usize::try_from(item).ok());
                let item = item.filter(|&item| item < visit.bought.len());
                let item = item.ok_or_else(|| std::io::Error::other("the service chose no item"))?;
                let reward = f64::from(u8::from(visit.bought[item]));
                let reward = json!({"decision_id": decided["decision_id"], "reward": reward});
                self.post(&format!("/v1/bandits/{name}/rewards"), &reward)?;
                *earned += visit.chances[item];
            }
            best += visit.chances.into_iter().fold(0.0, f64::max);
            served += 1;
            if rate > 0 {
                let due = Duration::from_secs_f64(served as f64 / f64::from(rate));
                thread::sleep(due.saturating_sub(begun.elapsed()));
            }
        }
        let share = |earned: f64| 100.0 * earned / f64::max(best, 1e-9);
        Ok(format!(
            "\n{served} visitors: with logs {:.0} % of what the best choice earns, without {:.0} %.\n",
            share(earned[0]),
            share(earned[1])
        ))
    }

    /// Just enough HTTP for a service that answers with a length.
    fn post(&mut self, path: &str, body: &Value) -> std::io::Result<Value> {
        let body = body.to_string();
        let call = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.connection.get_mut().write_all(call.as_bytes())?;
        let (mut first, mut length) = (String::new(), 0);
        self.connection.read_line(&mut first)?;
        loop {
            let mut line = String::new();
            if self.connection.read_line(&mut line)? == 0 {
                return Err(std::io::Error::other("the service has gone"));
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut answer = vec![0; length];
        self.connection.read_exact(&mut answer)?;
        if !first.starts_with("HTTP/1.1 20") {
            return Err(std::io::Error::other(String::from_utf8_lossy(&answer).into_owned()));
        }
        Ok(serde_json::from_slice(&answer)?)
    }
}
