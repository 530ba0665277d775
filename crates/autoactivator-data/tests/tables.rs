//! Feature tables of every format: the same rows come out of all of them, and what is wrong with one is said by place.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float32Array, Float64Array,
    Int64Array, LargeListArray, ListArray, PrimitiveArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use autoactivator::Table;
use autoactivator_data::table::TableWriter;
use autoactivator_data::{Batch, Columns, Error, FeatureTable};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

fn read(path: &Path, columns: &Columns) -> Result<Batch, Error> {
    let table = FeatureTable::open(path, columns)?;
    let batch = Batch::collect(table.batches()?)?.expect("a table without rows is refused");
    assert_eq!(table.shape().n_features, batch.x.rows().n_features());
    assert_eq!(table.shape().labelled, batch.y.is_some());
    assert!(table.shape().n_rows.is_none_or(|n| n == batch.len() as u64));
    Ok(batch)
}

fn label(name: &str) -> Columns {
    Columns {
        label: Some(name.to_owned()),
        ..Columns::default()
    }
}

/// Writes a record as Parquet, `rows` to a row group.
fn parquet(folder: &TempDir, columns: Vec<(&str, ArrayRef)>, rows: usize) -> PathBuf {
    let path = folder.path().join("table.parquet");
    let record = record(columns);
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows))
        .build();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, record.schema(), Some(properties)).unwrap();
    writer.write(&record).unwrap();
    writer.close().unwrap();
    path
}

fn record(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, column)| {
        let nullable = column.null_count() > 0 || column.data_type().is_nested();
        (name, column, nullable)
    });
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn floats(values: &[f32]) -> ArrayRef {
    Arc::new(Float32Array::from(values.to_vec()))
}

fn text(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn lists(rows: &[&[f32]]) -> ArrayRef {
    let mut builder = ListBuilder::new(Float32Builder::new());
    for row in rows {
        builder.values().append_slice(row);
        builder.append(true);
    }
    Arc::new(builder.finish())
}

#[track_caller]
fn refused(columns: Vec<(&str, ArrayRef)>, wanted: &Columns, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = parquet(&folder, columns, 2);
    let error = read(&path, wanted).expect_err(expected).to_string();
    assert!(
        error.contains("table.parquet") && error.contains(expected),
        "{error}"
    );
}

#[test]
fn a_column_of_weights_is_as_precise_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = Columns {
        weight: Some("w".to_owned()),
        ..Columns::default()
    };
    let with = |weights: ArrayRef| {
        let class = text(&["ape", "bee", "cow"]);
        vec![("a", floats(&[1.0, 2.0, 3.0])), ("w", weights), ("class", class)]
    };
    let of = |weights: ArrayRef| read(&parquet(&folder, with(weights), 2), &wanted).unwrap();
    let batch = of(Arc::new(Float64Array::from(vec![0.1, 0.0, 1e9 + 0.5])));
    assert_eq!(batch.x.rows().values(), [1.0, 2.0, 3.0]);
    assert_eq!(batch.weights.unwrap(), [0.1, 0.0, 1e9 + 0.5]);
    let whole = of(Arc::new(Int64Array::from(vec![1, 2, 16_777_217])));
    assert_eq!(whole.weights.unwrap(), [1.0, 2.0, 16_777_217.0]);
    refused(
        with(floats(&[1.0, 1.0, -1.0])),
        &wanted,
        "row 2 weighs -1: a weight says how often the row counts",
    );
    refused(
        with(Arc::new(Float64Array::from(vec![Some(1.0), None, Some(1.0)]))),
        &wanted,
        "row 1: the weight is null in column 'w'",
    );
    refused(
        with(text(&["1", "2", "3"])),
        &wanted,
        "column 'w' does not hold numbers and cannot be the weight",
    );
}

#[test]
fn number_columns_of_every_type_are_features() {
    let folder = tempfile::tempdir().unwrap();
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let half = [1.0, 2.0].map(Half::from_f32);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("a", floats(&[0.5, -1.0])),
        ("b", Arc::new(Float64Array::from(vec![2.5, 3.0]))),
        ("c", Arc::new(Int64Array::from(vec![-7, 8]))),
        ("d", Arc::new(BooleanArray::from(vec![true, false]))),
        (
            "e",
            Arc::new(PrimitiveArray::<Float16Type>::from_iter_values(half)),
        ),
        ("class", text(&["ape", "bee"])),
    ];
    let batch = read(&parquet(&folder, columns, 10), &Columns::default()).unwrap();
    assert_eq!(batch.x.rows().row(0), [0.5, 2.5, -7.0, 1.0, 1.0]);
    assert_eq!(batch.x.rows().row(1), [-1.0, 3.0, 8.0, 0.0, 2.0]);
    assert_eq!(batch.y.unwrap(), ["ape", "bee"]);
}

#[test]
fn classes_are_text_or_whole_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let words: DictionaryArray<Int32Type> = vec!["ape", "bee", "ape"].into_iter().collect();
    let flags = BooleanArray::from(vec![true, false, true]);
    let kinds: [(ArrayRef, [&str; 3]); 4] = [
        (Arc::new(Int64Array::from(vec![3, -1, 3])), ["3", "-1", "3"]),
        (Arc::new(words), ["ape", "bee", "ape"]),
        (
            Arc::new(StringViewArray::from(vec!["a", "b", "c"])),
            ["a", "b", "c"],
        ),
        (Arc::new(flags), ["true", "false", "true"]),
    ];
    for (column, expected) in kinds {
        let columns = vec![("x", floats(&[1.0, 2.0, 3.0])), ("kind", column)];
        let batch = read(&parquet(&folder, columns, 2), &label("kind")).unwrap();
        assert_eq!(batch.y.unwrap(), expected);
    }
}

#[test]
fn one_list_column_is_the_features_whatever_stands_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let large = LargeListArray::from_iter_primitive::<Float32Type, _, _>([
        Some(vec![Some(1.0), Some(2.0)]),
        Some(vec![Some(3.0), Some(4.0)]),
        Some(vec![Some(5.0), Some(6.0)]),
    ]);
    for embedding in [lists(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0]]), Arc::new(large)] {
        let columns = vec![
            ("id", Arc::new(Int64Array::from(vec![7, 8, 9])) as ArrayRef),
            ("note", text(&["x", "y", "z"])),
            ("embedding", embedding),
            ("label", text(&["a", "b", "a"])),
        ];
        let batch = read(&parquet(&folder, columns, 2), &Columns::default()).unwrap();
        assert_eq!(
            batch.x,
            Table::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2).unwrap()
        );
        assert_eq!(batch.y.unwrap(), ["a", "b", "a"]);
    }
}

#[test]
fn lists_of_numbers_of_every_type() {
    let folder = tempfile::tempdir().unwrap();
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let half = |value: f32| Some(Half::from_f32(value));
    let columns: [ArrayRef; 4] = [
        Arc::new(ListArray::from_iter_primitive::<Float16Type, _, _>([
            Some(vec![half(1.0), half(2.0)]),
            Some(vec![half(3.0), half(4.0)]),
        ])),
        Arc::new(FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(
            [Some(vec![Some(1.0), Some(2.0)]), Some(vec![Some(3.0), Some(4.0)])],
            2,
        )),
        Arc::new(FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
            [Some(vec![Some(1), Some(2)]), Some(vec![Some(3), Some(4)])],
            2,
        )),
        Arc::new(LargeListArray::from_iter_primitive::<Int64Type, _, _>([
            Some(vec![Some(1), Some(2)]),
            Some(vec![Some(3), Some(4)]),
        ])),
    ];
    for column in columns {
        let kind = column.data_type().to_string();
        let path = parquet(&folder, vec![("age", floats(&[7.0, 8.0])), ("e", column)], 1);
        let table = FeatureTable::open(&path, &Columns::default()).unwrap();
        assert_eq!(table.reading().features, None, "{kind}");
        let note = "left out beside the lists of column 'e', which are the features: 'age'";
        assert_eq!(table.reading().notes, [note], "{kind}");
        let batch = read(&path, &Columns::default()).unwrap();
        assert_eq!(
            batch.x,
            Table::new(vec![1.0, 2.0, 3.0, 4.0], 2).unwrap(),
            "{kind}"
        );
    }
}

#[test]
fn rows_keep_their_order_over_many_row_groups() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
    let path = parquet(&folder, vec![("x", floats(&values))], 7);
    let batch = read(&path, &Columns::default()).unwrap();
    assert_eq!(batch.x.rows().values(), values);
    assert_eq!(batch.y, None);
}

#[test]
fn columns_that_are_read_on_several_threads_come_together() {
    let folder = tempfile::tempdir().unwrap();
    let (n_rows, n_columns) = (3000, 67);
    let names: Vec<String> = (0..n_columns).map(|at| format!("f{at}")).collect();
    let column = |at: usize| {
        (0..n_rows)
            .map(|row| (row * n_columns + at) as f32)
            .collect::<Vec<_>>()
    };
    let mut columns: Vec<(&str, ArrayRef)> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (name.as_str(), floats(&column(at))))
        .collect();
    let classes: Vec<String> = (0..n_rows).map(|row| (row % 7).to_string()).collect();
    columns.insert(20, ("label", Arc::new(StringArray::from(classes.clone()))));
    let batch = read(&parquet(&folder, columns, n_rows), &Columns::default()).unwrap();
    let expected: Vec<f32> = (0..n_rows * n_columns).map(|value| value as f32).collect();
    assert_eq!(batch.x.rows().values(), expected);
    assert_eq!(batch.y.unwrap(), classes);
}

#[test]
fn what_is_wrong_is_named_by_its_place() {
    let (x, none) = (floats(&[1.0, 2.0, 3.0]), Columns::default());
    let class = text(&["a", "b", "c"]);
    let null_class = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]));
    let null_feature = Arc::new(Float32Array::from(vec![Some(1.0), Some(2.0), None]));
    let too_large = Arc::new(Float64Array::from(vec![1.0, 1e300, 1.0]));
    refused(
        vec![
            ("x", x.clone()),
            ("city", class.clone()),
            ("class", class.clone()),
        ],
        &none,
        "column 'city' does not hold numbers",
    );
    refused(
        vec![("x", x.clone()), ("class", null_class)],
        &none,
        "row 2: the class is null",
    );
    refused(
        vec![("x", x.clone()), ("class", text(&["a", "", "c"]))],
        &none,
        "row 1: the class is missing",
    );
    refused(
        vec![("x", floats(&[1.0, 2.0, f32::NAN])), ("class", class.clone())],
        &none,
        "row 2, feature 0 is NaN",
    );
    refused(
        vec![("x", too_large), ("class", class)],
        &none,
        "row 1, feature 0 is inf",
    );
    refused(vec![("x", null_feature)], &none, "row 2, column 'x' is null");
    refused(
        vec![("e", lists(&[&[1.0, 2.0], &[3.0], &[1.0, 2.0]]))],
        &none,
        "row 1, column 'e' holds 1 numbers",
    );
    refused(
        vec![("e", lists(&[&[1.0], &[2.0], &[]]))],
        &none,
        "row 2, column 'e' holds an empty list: remove the row",
    );
    refused(
        vec![("e", lists(&[&[], &[]]))],
        &none,
        "row 0, column 'e' holds an empty list: remove the row",
    );
    let rows = [Some(vec![Some(1.0)]), None, Some(vec![None])];
    let nulls = |rows: &[Option<Vec<Option<f32>>>]| -> ArrayRef {
        Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows.to_vec()))
    };
    refused(vec![("e", nulls(&rows))], &none, "row 1, column 'e' is null");
    let inside = [rows[0].clone(), rows[0].clone(), rows[2].clone()];
    refused(
        vec![("e", nulls(&inside))],
        &none,
        "row 2, column 'e' holds a null: remove the row or fill the value in",
    );
    refused(
        vec![("e", lists(&[&[1.0]])), ("f", lists(&[&[1.0]]))],
        &none,
        "both 'e' and 'f' hold lists of numbers: choose one with --columns",
    );
    let mut nested = ListBuilder::new(ListBuilder::new(Float32Builder::new()));
    nested.values().values().append_value(1.0);
    nested.values().append(true);
    nested.append(true);
    refused(
        vec![("e", Arc::new(nested.finish()))],
        &none,
        "column 'e' does not hold numbers, or one list of numbers a row",
    );
    refused(
        vec![("x", x.clone()), ("x", x.clone())],
        &none,
        "two columns are called 'x'",
    );
    refused(
        vec![("x", x.clone())],
        &label("kind"),
        "there is no label column 'kind'; the columns are x",
    );
    refused(
        vec![("x", x), ("w", floats(&[0.5; 3]))],
        &label("w"),
        "column 'w' holds Float32",
    );
    refused(vec![("x", floats(&[]))], &none, "no rows");
}

#[test]
fn what_is_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let n = 5000;
    let batch = Batch {
        x: Table::new((0..n * 3).map(|i| i as f32 / 7.0).collect(), 3).unwrap(),
        y: Some((0..n).map(|i| format!("class, {}", i % 3)).collect()),
        weights: None,
        names: Some((0..n).map(|i| format!("photo {i}.jpg")).collect()),
    };
    let origin = serde_json::json!({ "backbones": [] });
    for name in ["t.parquet", "t.arrow", "t.csv"] {
        let path = folder.path().join(name);
        let mut writer = TableWriter::create(&path, None, Some(origin.clone())).unwrap();
        writer.write(&batch).unwrap();
        assert!(!path.exists(), "{name} has its name before it is finished");
        writer.finish().unwrap();
        assert_eq!(read(&path, &Columns::default()).unwrap(), batch, "{name}");
        let known = FeatureTable::open(&path, &Columns::default()).unwrap().origin();
        assert_eq!(known, Some(origin.clone()).filter(|_| name != "t.csv"), "{name}");
    }
    drop(TableWriter::create(&folder.path().join("unfinished.parquet"), None, None).unwrap());
    let refused = TableWriter::create(&folder.path().join("t.xlsx"), None, None);
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains(".parquet, .arrow or .csv"), "{refused}");
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3,
        "nothing is left behind"
    );
}

#[test]
fn arrow_files_and_streams_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let record = record(vec![("x", floats(&[1.0, 2.0])), ("class", text(&["a", "b"]))]);
    let (file, stream) = (folder.path().join("a.arrow"), folder.path().join("b.arrows"));
    let mut writer = FileWriter::try_new(File::create(&file).unwrap(), &record.schema()).unwrap();
    writer.write(&record).unwrap();
    writer.finish().unwrap();
    let mut writer = StreamWriter::try_new(File::create(&stream).unwrap(), &record.schema()).unwrap();
    writer.write(&record).unwrap();
    writer.finish().unwrap();
    for path in [file, stream] {
        let batch = read(&path, &Columns::default()).unwrap();
        assert_eq!(batch.x.rows().values(), [1.0, 2.0]);
        assert_eq!(batch.y.unwrap(), ["a", "b"]);
    }
}

fn npy(descr: &str, shape: &str, body: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes(), body].concat()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn npz_files_are_read_stored_and_deflated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npz");
    let labels = [5_i64, 6].map(i64::to_le_bytes).concat();
    let content = [
        (
            "embeddings.npy",
            npy("<f4", "(2, 2)", &bytes(&[1.0, 2.0, 3.0, 4.0])),
        ),
        ("y.npy", npy("<i8", "(2,)", &labels)),
        ("note.txt", b"not an array".to_vec()),
    ];
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        for (name, bytes) in &content {
            writer.start_file(*name, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        let batch = read(&path, &Columns::default()).unwrap();
        assert_eq!(batch.x.rows().values(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(batch.y.unwrap(), ["5", "6"]);
        let error = read(&path, &label("z")).unwrap_err().to_string();
        assert!(
            error.contains("no label array 'z'; the arrays are embeddings, y"),
            "{error}"
        );
    }
}

#[test]
fn safetensors_files_are_read() {
    use safetensors::tensor::TensorView;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.safetensors");
    let x = bytes(&[1.0, 2.0, 3.0, 4.0]);
    let y = [5_i64, 6].map(i64::to_le_bytes).concat();
    let tensors = [
        (
            "x",
            TensorView::new(safetensors::Dtype::F32, vec![2, 2], &x).unwrap(),
        ),
        (
            "labels",
            TensorView::new(safetensors::Dtype::I64, vec![2], &y).unwrap(),
        ),
    ];
    let packed = safetensors::serialize(tensors, None).unwrap();
    fs::write(&path, &packed).unwrap();
    let batch = read(&path, &Columns::default()).unwrap();
    assert_eq!(batch.x.rows().values(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(batch.y.unwrap(), ["5", "6"]);
    fs::write(&path, &packed[..packed.len() - 3]).unwrap();
    let error = read(&path, &Columns::default()).unwrap_err().to_string();
    assert!(error.contains("truncated"), "{error}");
}

/// Whatever bytes a file holds, opening and reading it ends in rows or in an error that names it.
#[test]
fn damaged_files_are_errors_not_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let batch = Batch {
        x: Table::new((0..300).map(|i| i as f32).collect(), 3).unwrap(),
        y: Some((0..100).map(|i| (i % 3).to_string()).collect()),
        weights: None,
        names: None,
    };
    for name in ["t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        let mut writer = TableWriter::create(&path, None, None).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let whole = fs::read(&path).unwrap();
        let mut random = 1_u64;
        for round in 0..300 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (random >> 33) as usize % whole.len();
            let mut damaged = whole.clone();
            if round % 3 == 0 {
                damaged.truncate(at);
            } else {
                damaged[at] ^= 1 << (random >> 20 & 7);
            }
            fs::write(&path, &damaged).unwrap();
            if let Err(error) = read(&path, &Columns::default()) {
                assert!(error.to_string().contains(name), "{error}");
            }
        }
    }
}
