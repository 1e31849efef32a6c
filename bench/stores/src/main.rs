//! `cargo run --release -- FOLDER`: where a server should put examples before it acknowledges them. A plain log with
//! checksums beside redb, fjall and SQLite (write-ahead log, `synchronous=FULL`), all in the same folder, taking turns.
//!
//! Written are groups of 1, 16 and 64 records of 150 bytes, each group made durable before the next; read back is a
//! million records, with their checksums where the store has none of its own switched on.

use fjall::PersistMode;
use redb::{Database, ReadableTable, TableDefinition};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const RECORD: usize = 150;
const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("examples");
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A store of numbered records.
trait Store {
    /// Puts a group in, and comes back when a power cut would not take it away.
    fn put(&mut self, first: u64, records: &[Vec<u8>]) -> Outcome<()>;
    /// Reads everything; the number of records.
    fn read(&mut self) -> Outcome<u64>;
}

struct Plain(File, std::path::PathBuf);

impl Store for Plain {
    fn put(&mut self, first: u64, records: &[Vec<u8>]) -> Outcome<()> {
        let mut bytes = Vec::new();
        for (number, record) in (first..).zip(records) {
            bytes.extend((record.len() as u32).to_le_bytes());
            bytes.extend(crc32fast::hash(record).to_le_bytes());
            bytes.extend(number.to_le_bytes());
            bytes.extend(record);
        }
        self.0.write_all(&bytes)?;
        Ok(self.0.sync_data()?)
    }

    fn read(&mut self) -> Outcome<u64> {
        let mut bytes = Vec::new();
        File::open(&self.1)?.read_to_end(&mut bytes)?;
        let (mut rest, mut n_records) = (&bytes[..], 0);
        while let Some((head, after)) = rest.split_first_chunk::<16>() {
            let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
            let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
            let (record, after) = after.split_at_checked(length).ok_or("cut off")?;
            if crc32fast::hash(record) != sum {
                return Err("a record is damaged".into());
            }
            n_records += 1;
            rest = after;
        }
        Ok(n_records)
    }
}

struct Redb(Database);

impl Store for Redb {
    fn put(&mut self, first: u64, records: &[Vec<u8>]) -> Outcome<()> {
        let write = self.0.begin_write()?;
        {
            let mut table = write.open_table(TABLE)?;
            for (number, record) in (first..).zip(records) {
                table.insert(number, record.as_slice())?;
            }
        }
        Ok(write.commit()?)
    }

    fn read(&mut self) -> Outcome<u64> {
        let read = self.0.begin_read()?;
        let mut n_records = 0;
        for entry in read.open_table(TABLE)?.iter()? {
            n_records += u64::from(entry?.1.value().len() == RECORD);
        }
        Ok(n_records)
    }
}

struct Fjall(fjall::Keyspace, fjall::PartitionHandle);

impl Store for Fjall {
    fn put(&mut self, first: u64, records: &[Vec<u8>]) -> Outcome<()> {
        let mut batch = self.0.batch();
        for (number, record) in (first..).zip(records) {
            batch.insert(&self.1, number.to_be_bytes(), record);
        }
        batch.commit()?;
        Ok(self.0.persist(PersistMode::SyncData)?)
    }

    fn read(&mut self) -> Outcome<u64> {
        let mut n_records = 0;
        for entry in self.1.iter() {
            n_records += u64::from(entry?.1.len() == RECORD);
        }
        Ok(n_records)
    }
}

struct Sqlite(rusqlite::Connection);

impl Store for Sqlite {
    fn put(&mut self, first: u64, records: &[Vec<u8>]) -> Outcome<()> {
        let write = self.0.transaction()?;
        {
            let mut insert = write.prepare_cached("insert into examples values (?1, ?2)")?;
            for (number, record) in (first..).zip(records) {
                insert.execute((number as i64, record))?;
            }
        }
        Ok(write.commit()?)
    }

    fn read(&mut self) -> Outcome<u64> {
        let mut select = self.0.prepare("select record from examples order by number")?;
        let mut rows = select.query([])?;
        let mut n_records = 0;
        while let Some(row) = rows.next()? {
            n_records += u64::from(row.get_ref(0)?.as_blob()?.len() == RECORD);
        }
        Ok(n_records)
    }
}

fn open(name: &str, folder: &Path) -> Outcome<Box<dyn Store>> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    Ok(match name {
        "plain log" => {
            let path = folder.join("log");
            Box::new(Plain(File::options().create(true).append(true).open(&path)?, path))
        }
        "redb" => Box::new(Redb(Database::create(folder.join("redb"))?)),
        "fjall" => {
            let keyspace = fjall::Config::new(folder).open()?;
            let part = keyspace.open_partition("examples", fjall::PartitionCreateOptions::default())?;
            Box::new(Fjall(keyspace, part))
        }
        _ => {
            let connection = rusqlite::Connection::open(folder.join("sqlite"))?;
            connection.execute_batch(
                "pragma journal_mode = wal; pragma synchronous = full; create table examples (number integer primary key, record blob)",
            )?;
            Box::new(Sqlite(connection))
        }
    })
}

fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| entry.metadata().map_or(0, |found| if found.is_dir() { size(&entry.path()) } else { found.len() }))
        .sum()
}

fn main() -> Outcome<()> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let folder = Path::new(&folder).join("stores");
    let record = |number: u64| (0..RECORD as u64).map(|at| (number * 31 + at * 7) as u8).collect::<Vec<u8>>();
    let names = ["plain log", "redb", "fjall", "SQLite"];
    println!("| store | records a flush | records a second, best of 3 | records read a second | bytes a record |");
    println!("|---|---|---|---|---|");
    for group in [1_u64, 16, 64] {
        let mut best = [0.0_f64; 4];
        for _ in 0..3 {
            for (best, name) in best.iter_mut().zip(names) {
                let mut store = open(name, &folder)?;
                let (began, mut next) = (Instant::now(), 0);
                while began.elapsed() < Duration::from_secs(2) {
                    let records: Vec<Vec<u8>> = (next..next + group).map(record).collect();
                    store.put(next, &records)?;
                    next += group;
                }
                *best = best.max(next as f64 / began.elapsed().as_secs_f64());
            }
        }
        for (best, name) in best.iter().zip(names) {
            println!("| {name} | {group} | {best:.0} | | |");
        }
    }
    for name in names {
        let mut store = open(name, &folder)?;
        let records: Vec<Vec<u8>> = (0..10_000).map(record).collect();
        for first in (0..1_000_000).step_by(10_000) {
            store.put(first, &records)?;
        }
        let mut rate = 0.0_f64;
        for _ in 0..3 {
            let began = Instant::now();
            assert_eq!(store.read()?, 1_000_000, "{name}");
            rate = rate.max(1e6 / began.elapsed().as_secs_f64());
        }
        println!("| {name} | 10000 | | {rate:.0} | {:.0} |", size(&folder) as f64 / 1e6);
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(())
}
