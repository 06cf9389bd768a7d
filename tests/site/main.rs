//! The program as its users meet it: started as a process, asked over HTTP.

mod attacks;
mod audit;
mod bad_input;
mod batches;
mod books;
mod cli;
mod collections;
mod dialects;
mod doctor;
mod durability;
mod dynamic;
mod faults;
mod golden;
mod identity;
mod import;
mod inside;
mod journal;
mod limits;
mod link_preview;
mod media;
mod menus;
mod pages;
mod permissions;
mod queries;
mod reload;
mod response_cache;
#[cfg(feature = "s3")]
mod s3;
mod safety;
mod scenarios;
mod scheduler;
mod server;
mod templates;
mod values;
mod versions;
mod xmlrpc;
