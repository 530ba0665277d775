//! Half precision: sixteen bits a number, for files that should be small.

/// The nearest half-precision number, ties to even; what is too large becomes infinite.
pub fn to_f16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00; // NaN
    }
    if magnitude >= 0x4780_0000 {
        return sign | 0x7c00; // 65536 and above, and infinity
    }
    if magnitude < 0x3880_0000 {
        // Below 2⁻¹⁴ numbers are multiples of 2⁻²⁴; adding 0.5 in single precision rounds to just that.
        let rounded = f32::from_bits(magnitude) + 0.5;
        return sign | (rounded.to_bits() - 0.5f32.to_bits()) as u16;
    }
    let odd = (magnitude >> 13) & 1;
    // Rounding may carry into the exponent, up to infinity, as it should.
    sign | ((magnitude - 0x3800_0000 + 0x0fff + odd) >> 13) as u16
}

/// The number that half-precision bits stand for.
pub fn from_f16_bits(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7fff);
    let value = match magnitude {
        0x7c00.. => f32::from_bits(0x7f80_0000 | ((magnitude & 0x03ff) << 13)),
        // Multiples of 2⁻²⁴.
        0..0x0400 => magnitude as f32 / 16_777_216.0,
        _ => f32::from_bits((magnitude << 13) + 0x3800_0000),
    };
    f32::from_bits(value.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_its_own_nearest() {
        for bits in 0..=u16::MAX {
            let value = from_f16_bits(bits);
            if !value.is_nan() {
                assert_eq!(to_f16_bits(value), bits, "{value}");
            }
        }
    }

    #[test]
    fn known_numbers() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xfbff, -65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
        ] {
            assert_eq!(from_f16_bits(bits), value);
        }
    }

    #[test]
    fn rounds_to_nearest_even() {
        assert_eq!(from_f16_bits(to_f16_bits(1.0 + 1.0 / 2048.0)), 1.0);
        assert_eq!(from_f16_bits(to_f16_bits(1.0 + 3.0 / 2048.0)), 1.0 + 2.0 / 1024.0);
        assert_eq!(from_f16_bits(to_f16_bits(65519.0)), 65504.0);
        assert_eq!(from_f16_bits(to_f16_bits(65520.0)), f32::INFINITY);
        assert_eq!(from_f16_bits(to_f16_bits(-1e-9)), -0.0);
        assert!(from_f16_bits(to_f16_bits(f32::NAN)).is_nan());
    }
}
