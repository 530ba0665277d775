//! Files that claim to hold, or unpack to, more than they do: each is refused by name before memory is given to it.
//!
//! Some of these claims would end the process, so that no test could catch them.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float32Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use autoactivator_data::{Batch, Columns, Error, FeatureTable};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::ZstdLevel;
use parquet::file::properties::WriterProperties;

/// Rows of the Arrow tables: their numbers take 4,000 bytes, which no other length in the file is.
const ROWS: usize = 1000;

fn read(path: &Path) -> Result<usize, Error> {
    let table = FeatureTable::open(path, &Columns::default())?;
    Ok(Batch::collect(table.batches()?)?.map_or(0, |batch| batch.len()))
}

#[track_caller]
fn refused(path: &Path, expected: &str) {
    let error = read(path).unwrap_err().to_string();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(error.contains(name) && error.contains(expected), "{error}");
}

fn record(n_rows: usize) -> RecordBatch {
    let x: ArrayRef = Arc::new(Float32Array::from(vec![0.0; n_rows]));
    let class: ArrayRef = Arc::new(StringArray::from(vec!["a"; n_rows]));
    RecordBatch::try_from_iter([("x", x), ("class", class)]).unwrap()
}

fn arrow(path: &Path, compression: CompressionType, is_stream: bool) {
    let record = record(ROWS);
    let options = IpcWriteOptions::default()
        .try_with_compression(Some(compression))
        .unwrap();
    let (file, schema) = (File::create(path).unwrap(), record.schema());
    if is_stream {
        let mut writer = StreamWriter::try_new_with_options(file, &schema, options).unwrap();
        writer.write(&record).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
        writer.write(&record).unwrap();
        writer.finish().unwrap();
    }
}

/// Replaces the length that a buffer of numbers says it unpacks to.
fn claim(bytes: &[u8], length: i64) -> Vec<u8> {
    let honest = (4 * ROWS as i64).to_le_bytes();
    let at = bytes.windows(8).position(|eight| eight == honest).unwrap();
    let mut bytes = bytes.to_vec();
    bytes[at..at + 8].copy_from_slice(&length.to_le_bytes());
    bytes
}

#[test]
fn buffers_of_arrow_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.arrow");
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        for is_stream in [false, true] {
            arrow(&path, compression, is_stream);
            assert_eq!(read(&path).unwrap(), ROWS);
            let honest = fs::read(&path).unwrap();
            for length in [1 << 60, 1 << 40, 1 << 30, i64::MAX] {
                fs::write(&path, claim(&honest, length)).unwrap();
                refused(&path, "more than is likely or fits into memory");
            }
            fs::write(&path, claim(&honest, 4001)).unwrap();
            refused(&path, "not a usable Arrow file");
        }
    }
}

#[test]
fn pages_of_parquet_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let page_of = |rows: usize| {
        let properties = WriterProperties::builder()
            .set_compression(parquet::basic::Compression::ZSTD(ZstdLevel::default()))
            .set_column_dictionary_enabled("x".into(), false)
            .set_data_page_size_limit(1 << 30)
            .set_data_page_row_count_limit(1 << 30)
            .set_max_row_group_row_count(Some(1 << 30))
            .build();
        let record = record(rows);
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, record.schema(), Some(properties)).unwrap();
        writer.write(&record).unwrap();
        writer.close().unwrap();
    };
    page_of(1000);
    assert_eq!(read(&path).unwrap(), 1000);
    page_of(5 << 20); // 20 MB of zeros in one page
    refused(&path, "more than is likely or fits into memory");
}

fn npy(shape: &str, body: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), body].concat()
}

/// Labels are read in one piece, so they may not unpack to anything.
#[test]
fn labels_of_packed_arrays() {
    const N: usize = 80 << 20;
    let folder = tempfile::tempdir().unwrap();
    let features = npy(&format!("({N}, 1)"), &[]);
    let labels = npy(&format!("({N},)"), &vec![0; N]);
    let path = folder.path().join("t.npz");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    for (name, bytes) in [("x.npy", &features), ("y.npy", &labels)] {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    refused(&path, "more than is likely or fits into memory");

    let head = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
    let images = folder.path().join("train-images-idx3-ubyte");
    fs::write(&images, head(&[0x803, N as u32, 1, 1])).unwrap();
    let packed = folder.path().join("train-labels-idx1-ubyte.gz");
    let mut gzip = GzEncoder::new(File::create(packed).unwrap(), Compression::best());
    gzip.write_all(&head(&[0x801, N as u32])).unwrap();
    gzip.write_all(&vec![0; N]).unwrap();
    gzip.finish().unwrap();
    let error = read(&images).unwrap_err().to_string();
    assert!(
        error.contains("train-labels") && error.contains("more than is likely"),
        "{error}"
    );
}

/// Shapes that no file of this size can have; what is read grows with the bytes that arrive.
#[test]
fn shapes_of_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    for (shape, expected) in [
        ("(4, 4194304)", "truncated"),
        ("(4, 1099511627776)", "features a row, more than"),
        ("(1152921504606846976, 16)", "larger than any file"),
    ] {
        fs::write(&path, npy(shape, &[0; 9])).unwrap();
        refused(&path, expected);
    }
    let path = folder.path().join("t.safetensors");
    let header = r#"{"x":{"dtype":"F32","shape":[1048576,1048576],"data_offsets":[0,4398046511104]}}"#;
    let bytes = [
        &(header.len() as u64).to_le_bytes()[..],
        header.as_bytes(),
        &[0; 8],
    ]
    .concat();
    fs::write(&path, bytes).unwrap();
    refused(&path, "4398046511104 bytes were expected");
}

/// A name that rows share is in a file once, and in memory once for each row.
#[test]
fn names_that_many_rows_share() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.arrow");
    let long = "x".repeat(5000);
    let x: ArrayRef = Arc::new(Float32Array::from(vec![0.0; ROWS]));
    let class: DictionaryArray<Int32Type> = (0..ROWS).map(|_| Some(long.as_str())).collect();
    let record = RecordBatch::try_from_iter([("x", x), ("class", Arc::new(class) as ArrayRef)]).unwrap();
    let mut writer = FileWriter::try_new(File::create(&path).unwrap(), &record.schema()).unwrap();
    writer.write(&record).unwrap();
    writer.finish().unwrap();
    refused(&path, "a text of 5000 bytes is no name");

    let path = folder.path().join("long.csv");
    fs::write(&path, format!("x,class\n1,{long}\n2,a\n")).unwrap();
    refused(&path, "a text of 5000 bytes is no name");
}
