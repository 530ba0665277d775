//! Images from strangers are refused with a reason, or decoded to the size that they state.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(image) = autoactivator_data::decode(Path::new("image"), bytes) {
        assert_eq!(
            image.as_raw().len(),
            3 * image.width() as usize * image.height() as usize
        );
    }
});
