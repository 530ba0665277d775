//! csv files, gzipped or not, from strangers are refused with a reason, or read within the limits.
#![no_main]

use autoactivator_fuzz::read_table;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| read_table("fuzzed.table", bytes));
