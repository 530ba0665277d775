//! From the output of an encoder to one row of length 1 per sentence.

use crate::backbone::runtime::Tensor;
use crate::origin::Pooling;

/// One row per sentence. An output of sentences x features was pooled already; of sentences x tokens x features, no token
/// is padding.
pub(super) fn rows(output: Tensor, pooling: Pooling, n_sentences: usize) -> Result<Vec<f32>, String> {
    let mut rows = match output.shape[..] {
        [sentences, features] if sentences == n_sentences && features > 0 => output.values,
        [sentences, tokens, features] if sentences == n_sentences && tokens * features > 0 => {
            let sentences = output.values.chunks_exact(tokens * features);
            sentences
                .flat_map(|sentence| pooled(sentence, features, pooling))
                .collect()
        }
        _ => {
            let shape = &output.shape;
            return Err(format!(
                "it returns features of shape {shape:?} for {n_sentences} sentences"
            ));
        }
    };
    let n_features = rows.len() / n_sentences.max(1);
    rows.chunks_exact_mut(n_features.max(1)).for_each(to_length_one);
    Ok(rows)
}

fn pooled(sentence: &[f32], n_features: usize, pooling: Pooling) -> Vec<f32> {
    match pooling {
        Pooling::First => sentence[..n_features].to_vec(),
        Pooling::Mean => {
            let mut mean = vec![0.0; n_features];
            for token in sentence.chunks_exact(n_features) {
                for (sum, value) in mean.iter_mut().zip(token) {
                    *sum += value;
                }
            }
            let n_tokens = (sentence.len() / n_features) as f32;
            mean.iter_mut().for_each(|sum| *sum /= n_tokens);
            mean
        }
    }
}

/// A row of nothing but zeros stays as it is.
fn to_length_one(row: &mut [f32]) {
    let length = row
        .iter()
        .map(|value| f64::from(*value).powi(2))
        .sum::<f64>()
        .sqrt();
    if length > 0.0 {
        row.iter_mut()
            .for_each(|value| *value = (f64::from(*value) / length) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[usize], values: &[f32], pooling: Pooling) -> Result<Vec<f32>, String> {
        let tensor = Tensor {
            shape: shape.to_vec(),
            values: values.to_vec(),
        };
        rows(tensor, pooling, 2)
    }

    #[test]
    fn tokens_become_rows_of_length_one() {
        let values = [3.0, 0.0, 3.0, 8.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(
            of(&[2, 2, 2], &values, Pooling::Mean).unwrap(),
            [0.6, 0.8, 0.0, 0.0]
        );
        assert_eq!(
            of(&[2, 2, 2], &values, Pooling::First).unwrap(),
            [1.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(
            of(&[2, 2], &[3.0, 4.0, 0.0, 2.0], Pooling::Mean).unwrap(),
            [0.6, 0.8, 0.0, 1.0]
        );
    }

    #[test]
    fn another_shape_is_refused() {
        for shape in [&[1, 8][..], &[8], &[2, 0], &[2, 0, 4], &[1, 2, 2, 2]] {
            assert!(
                of(shape, &[0.0; 8], Pooling::Mean)
                    .unwrap_err()
                    .contains("2 sentences")
            );
        }
    }
}
