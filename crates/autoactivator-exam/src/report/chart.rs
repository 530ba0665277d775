//! What all charts share: axes with round ticks, places of values, and labels that keep apart.
//!
//! Charts are inline SVG that takes its ink from the page, so that it reads on light and dark alike. `plot` draws lines,
//! `cost` points, `calibration` a curve.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// After Okabe and Ito, told apart with any colour vision; shades that show on white as well as on near-black.
const PALETTE: [&str; 6] = ["#2f7fc4", "#d55e00", "#009e73", "#c76b9d", "#b8860b", "#7f868f"];

/// Dashes, which change when the colours start over; the first is a line without gaps.
const DASHES: [&str; 4] = ["", "7 4", "2 4", "12 3"];

/// Roughly the width of a character beside its height.
const CHARACTER: f64 = 6.6;

/// The height of a line of text.
pub(super) const LINE: f64 = 14.0;

/// A picture with room for axes: the sides of the area in which values lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// A scale and its ticks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    from: f64,
    to: f64,
    logarithmic: bool,
    /// Where there are ticks.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// A scale between two values, with about `n` round ticks.
    pub fn linear(from: f64, to: f64, n: usize) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        let step = round_step((to - from) / n.max(1) as f64);
        let first = (from / step - 1e-9).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        Self {
            from,
            to,
            logarithmic: false,
            ticks: (first..=last).map(|k| k as f64 * step).collect(),
        }
    }

    /// A scale of whole numbers.
    pub fn whole(from: f64, to: f64, n: usize) -> Self {
        let mut axis = Self::linear(from, to, n);
        axis.ticks.retain(|tick| (tick - tick.round()).abs() < 1e-9);
        axis
    }

    /// A scale on which equal distances are equal ratios, with ticks at 1, 2, 5, 10, … of any power of ten.
    pub fn logarithmic(from: f64, to: f64) -> Self {
        let (from, to) = (from.max(f64::MIN_POSITIVE), to.max(f64::MIN_POSITIVE));
        let decades = (to / from).log10();
        let steps: &[f64] = match decades {
            d if d > 3.0 => &[1.0],
            d if d > 1.5 => &[1.0, 3.0],
            _ => &[1.0, 2.0, 5.0],
        };
        let powers = (from.log10().floor() as i32)..=(to.log10().ceil() as i32);
        let ticks = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        Self {
            from,
            to,
            logarithmic: true,
            ticks: ticks
                .filter(|tick| (from * 0.999..=to * 1.001).contains(tick))
                .collect(),
        }
    }

    /// Where a value lies: 0 at the beginning, 1 at the end.
    fn share(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.from).ln() - self.from.ln()) / (self.to.ln() - self.from.ln()).max(1e-12)
        } else {
            (value - self.from) / (self.to - self.from)
        };
        share.clamp(0.0, 1.0)
    }
}

impl Area {
    /// Where a value of the horizontal axis lies.
    pub fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + axis.share(value) * (self.right - self.left)
    }

    /// Where a value of the vertical axis lies.
    pub fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.bottom - axis.share(value) * (self.bottom - self.top)
    }

    /// Lines across at the ticks, numbers at both axes, and what is drawn to the right.
    pub fn axes(&self, across: &Axis, up: &Axis, x_name: &str) -> String {
        let mut svg = String::new();
        for &tick in &up.ticks {
            let y = self.y(up, tick);
            svg += &format!(
                "<path class=\"rule\" d=\"M{:.0} {y:.1}H{:.0}\"/><text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                self.left,
                self.right,
                self.left - 6.0,
                y + 4.0,
                short(tick)
            );
        }
        for &tick in &across.ticks {
            svg += &format!(
                "<text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                self.x(across, tick),
                self.bottom + 17.0,
                short(tick)
            );
        }
        svg += &format!(
            "<path class=\"axis\" d=\"M{:.0} {:.1}H{:.0}\"/><text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{x_name}</text>",
            self.left,
            self.bottom,
            self.right,
            (self.left + self.right) / 2.0,
            self.bottom + 36.0
        );
        svg
    }
}

/// A number as short as an axis wants it.
pub(super) fn short(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 10_000.0 => return format!("{}k", short(value / 1000.0)),
        v if v >= 10.0 || v == 0.0 => 0,
        v if v >= 1.0 => 1,
        v if v >= 0.1 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A step that reads well: 1, 2 or 5 of a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let found = [1.0, 2.0, 5.0].iter().find(|step| *step * power >= rough * 0.999);
    found.unwrap_or(&10.0) * power
}

/// Moves heights apart so that neighbours keep this distance, each as little as need be, and none leaves the space
/// between `top` and `bottom` unless they do not fit.
pub(super) fn apart(wanted: &[f64], distance: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]).then(a.cmp(&b)));
    // Clusters of neighbours that touch; each lies about the mean of what its members want.
    let mut clusters: Vec<(f64, usize)> = Vec::new();
    let begin = |(centre, n): (f64, usize)| {
        let half = (n as f64 - 1.0) * distance / 2.0;
        (centre - half).min(bottom - 2.0 * half).max(top)
    };
    for &at in &order {
        clusters.push((wanted[at], 1));
        while let [.., above, below] = clusters[..] {
            if begin(above) + above.1 as f64 * distance <= begin(below) + 1e-9 {
                break;
            }
            let n = above.1 + below.1;
            let centre = (above.0 * above.1 as f64 + below.0 * below.1 as f64) / n as f64;
            clusters.truncate(clusters.len() - 2);
            clusters.push((centre, n));
        }
    }
    let mut places = vec![0.0; wanted.len()];
    let lying = clusters
        .iter()
        .flat_map(|&cluster| (0..cluster.1).map(move |k| begin(cluster) + k as f64 * distance));
    for (at, place) in order.into_iter().zip(lying) {
        places[at] = place;
    }
    places
}

/// Roughly how wide a text is drawn.
pub(super) fn width(text: &str) -> f64 {
    text.width() as f64 * CHARACTER
}

/// A text of at most so many columns, its end replaced by dots if need be.
pub(super) fn clipped(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut clipped = String::new();
    for c in text.chars() {
        // One column is for the dots.
        if clipped.width() + c.width().unwrap_or(0) + 1 > columns {
            break;
        }
        clipped.push(c);
    }
    clipped + "…"
}

/// A colour, counted from 0; any number will do.
pub(super) fn colour(nth: usize) -> &'static str {
    PALETTE[nth % PALETTE.len()]
}

/// The dashes of a line: they change when the colours start over, so that more lines stay distinct.
pub(super) fn dashes(colour: usize, dash: usize) -> &'static str {
    DASHES[(dash + colour / PALETTE.len()) % DASHES.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            Axis::linear(0.0, 100.0, 5).ticks,
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(Axis::linear(70.0, 100.0, 5).ticks, [70.0, 80.0, 90.0, 100.0]);
        assert_eq!(Axis::whole(0.9, 3.1, 8).ticks, [1.0, 2.0, 3.0]);
        assert_eq!(Axis::logarithmic(0.5, 20.0).ticks, [1.0, 3.0, 10.0]);
        assert_eq!(Axis::logarithmic(1.0, 10.0).ticks, [1.0, 2.0, 5.0, 10.0]);
        assert!(Axis::linear(3.0, 3.0, 5).ticks.len() > 1);
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.05, 1.5, 20.0, 100.0, 12_000.0].map(short);
        assert_eq!(shown, ["0", "0.05", "1.5", "20", "100", "12k"]);
    }

    #[test]
    fn labels_keep_apart_and_inside() {
        assert_eq!(apart(&[50.0, 10.0], 14.0, 0.0, 100.0), [50.0, 10.0]);
        assert_eq!(apart(&[50.0, 50.0], 14.0, 0.0, 100.0), [43.0, 57.0]);
        assert_eq!(apart(&[0.0, 1.0, 2.0], 10.0, 0.0, 100.0), [0.0, 10.0, 20.0]);
        assert_eq!(apart(&[99.0, 99.0, 40.0], 10.0, 0.0, 100.0), [90.0, 100.0, 40.0]);
        let crowded = apart(&[5.0; 20], 10.0, 0.0, 50.0);
        assert!(crowded.windows(2).all(|pair| pair[1] - pair[0] >= 9.99));
    }

    #[test]
    fn texts_are_clipped_by_what_they_look_like() {
        assert_eq!(clipped("consolidation", 13), "consolidation");
        assert_eq!(clipped("consolidation", 8), "consoli…");
        assert_eq!(clipped("日本語のクラス", 8), "日本語…");
    }
}
