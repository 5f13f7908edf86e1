//! A service in a process, and just enough HTTP to call it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::text;

/// A service in a process of its own.
pub(crate) struct Service {
    pub(crate) process: Child,
    pub(crate) address: String,
}

impl Service {
    pub(crate) fn start(folder: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_truenorth"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "off", "--data"]).arg(folder).args(more);
        Self::spawned(&mut command)
    }

    pub(crate) fn spawned(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit_once("http://").unwrap_or_else(|| panic!("{line:?}")).1.to_owned();
        Self { process, address }
    }

    pub(crate) fn client(&self) -> Client {
        Client { address: self.address.clone(), stream: None, token: None, headers: String::new() }
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn stop(mut self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Just enough HTTP, over one connection.
pub(crate) struct Client {
    pub(crate) address: String,
    stream: Option<TcpStream>,
    pub(crate) token: Option<String>,
    /// Headers besides, each with its end of line.
    pub(crate) headers: String,
}

impl Client {
    /// A status and a body; nothing where the service has gone.
    pub(crate) fn raw(
        &mut self,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
    ) -> Option<(u16, Vec<u8>)> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address).ok()?;
            stream.set_nodelay(true).ok()?;
            stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
            self.stream = Some(stream);
        }
        let answer = self.exchange(method, path, kind, body);
        if answer.is_none() {
            self.stream = None;
        }
        answer
    }

    fn exchange(&mut self, method: &str, path: &str, kind: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        let stream = self.stream.as_mut()?;
        let token =
            self.token.as_ref().map_or(String::new(), |token| format!("authorization: Bearer {token}\r\n"));
        let (length, headers) = (body.len(), &self.headers);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n{token}{headers}content-length: {length}\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let (mut length, mut chunked) = (0, false);
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let (name, value) = line.trim().split_once(": ").unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "transfer-encoding" => chunked = value == "chunked",
                _ => {}
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        while chunked {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let mut chunk = vec![0; usize::from_str_radix(line.trim(), 16).ok()? + 2];
            reader.read_exact(&mut chunk).ok()?;
            chunked = chunk.len() > 2;
            body.extend(&chunk[..chunk.len() - 2]);
        }
        Some((status, body))
    }

    pub(crate) fn call(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let text = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (status, body) = self.raw(method, path, "application/json", &text).expect("an answer");
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    pub(crate) fn bytes(&mut self, path: &str) -> Vec<u8> {
        let (status, body) = self.raw("GET", path, "", b"").unwrap();
        assert_eq!(status, 200);
        body
    }
}

/// What a command has said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn truenorth(arguments: &[&str]) -> Said {
    let output = crate::support::truenorth(arguments);
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| text(bytes).to_owned());
    Said { code: output.status.code().unwrap(), stdout, stderr }
}
