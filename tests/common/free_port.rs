//! A port of loopback for what a test starts.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

const FIRST: u16 = 20_000;
const LAST: u16 = 32_767;

/// An address on which nothing listens. Its port is below those that the system gives to connections, so that none of them
/// takes it before the program listens. The ports are counted in a file that all tests lock, so that none is given twice
/// meanwhile (`tests/free-port` counts in the same).
pub fn free_address() -> SocketAddr {
    let path = std::env::temp_dir().join("cms-test-port");
    let mut file =
        File::options().read(true).write(true).create(true).truncate(false).open(path).expect("a file for ports");
    file.lock().expect("a lock");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("the last port");
    let mut port = text.parse().unwrap_or(LAST);
    loop {
        port = if port < LAST { port + 1 } else { FIRST };
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            file.rewind().expect("the beginning");
            write!(file, "{port}").expect("the port in the file");
            return listener.local_addr().expect("an address");
        }
    }
}
