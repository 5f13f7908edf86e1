//! A bare server that answers what it is sent: what HTTP alone costs, for `bench/service`. `echo ADDRESS`

use axum::Router;
use axum::body::Bytes;
use axum::routing::any;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("echo ADDRESS")?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        let router = Router::new().fallback(any(|body: Bytes| async move { body }));
        Ok(axum::serve(listener, router).await?)
    })
}
