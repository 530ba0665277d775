//! Lines with their names where they end.
//!
//! [`Plot`] is one figure, [`Curve`] one line in it; `curves` decides what is drawn. The first line is the one that the
//! report is about: it is drawn last, and broader, so that no other line hides it.

use super::chart::{Area, Axis, LINE, apart, clipped, colour, dashes, width};
use super::page::escape;

/// The picture without the names of the lines.
const WIDTH: f64 = 350.0;
const HEIGHT: f64 = 270.0;

/// With more points than this there are no marks, which would hide the lines.
const MAX_MARKS: usize = 120;

/// More lines than this cannot be told apart by their names.
const MAX_NAMED: usize = 24;

/// Columns of a name at the end of a line.
const NAME: usize = 28;

/// One figure.
pub(super) struct Plot {
    /// What is drawn upwards.
    pub title: String,
    /// What is drawn to the right.
    pub x_name: &'static str,
    /// The top of the figure, when the values do not decide it.
    pub y_max: Option<f64>,
    /// The lines, the most important one first.
    pub curves: Vec<Curve>,
}

/// One line of a figure.
pub(super) struct Curve {
    /// Its name.
    pub label: String,
    /// Which colour, counted from 0; any number will do.
    pub colour: usize,
    /// Which dashes, counted from 0, the solid line.
    pub dash: usize,
    /// Where it goes, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Plot {
    /// The figure with its title, and a legend for where there is no room for names.
    pub fn figure(&self) -> String {
        let named = self.curves.len() <= MAX_NAMED;
        let (title, picture, legend) = (escape(&self.title), self.picture(named), self.legend(named));
        format!("<figure class=\"card\"><figcaption><b>{title}</b></figcaption>{picture}{legend}</figure>\n")
    }

    fn picture(&self, named: bool) -> String {
        let ends: Vec<(&Curve, (f64, f64))> = self
            .curves
            .iter()
            .filter_map(|curve| Some((curve, *curve.points.last()?)))
            .filter(|_| named)
            .collect();
        let names: Vec<String> = ends.iter().map(|(curve, end)| self.name(curve, end.1)).collect();
        let widest = names.iter().map(|name| width(name)).fold(0.0, f64::max);
        let height = HEIGHT.max(names.len() as f64 * LINE + 70.0);
        let area = Area {
            left: 42.0,
            right: WIDTH,
            top: 12.0,
            bottom: height - 46.0,
        };
        let (across, up) = (self.across(), self.up());
        // The first line comes last, on top of all others.
        let lines = self.curves.iter().enumerate().rev();
        let lines: String = lines
            .map(|(nth, curve)| curve.drawn(&area, &across, &up, nth == 0, self.has_marks()))
            .collect();
        let heights: Vec<f64> = ends.iter().map(|(_, end)| area.y(&up, end.1)).collect();
        let places = apart(&heights, LINE, area.top, area.bottom);
        let labels = ends.iter().zip(&names).zip(heights.iter().zip(&places));
        let labels: String = labels
            .enumerate()
            .map(|(nth, (((curve, end), name), (from, to)))| {
                let (x, stroke) = (area.x(&across, end.0), colour(curve.colour));
                let first = if nth == 0 { " first" } else { "" };
                format!(
                    "<path class=\"leader\" d=\"M{:.1} {from:.1}L{:.1} {to:.1}\" stroke=\"{stroke}\"/>\
                     <text class=\"name{first}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    x + 4.0,
                    area.right + 14.0,
                    area.right + 18.0,
                    to + 4.0,
                    escape(name)
                )
            })
            .collect();
        let (plain, whole) = (area.right + 10.0, area.right + 24.0 + widest);
        // On a phone, names would be too small to read: there the picture is so wide that it ends before them.
        format!(
            "<div class=\"named\" style=\"--wide:{:.3}\"><svg viewBox=\"0 0 {whole:.0} {height:.0}\" role=\"img\" \
             aria-label=\"{}\">{}{lines}{labels}</svg></div>",
            whole / plain,
            escape(&self.title),
            area.axes(&across, &up, self.x_name)
        )
    }

    /// A line's name and where it ends.
    fn name(&self, curve: &Curve, end: f64) -> String {
        let decimals = match self.top() {
            top if top >= 1000.0 => 0,
            top if top >= 5.0 => 1,
            _ => 2,
        };
        format!("{end:.decimals$} {}", clipped(&curve.label, NAME))
    }

    fn legend(&self, named: bool) -> String {
        if !named {
            let n = self.curves.len();
            return format!("<p class=\"note\">{n} lines, too many to be named.</p>");
        }
        let drawn = self
            .curves
            .iter()
            .filter_map(|curve| Some((curve, curve.points.last()?)));
        let entries: String = drawn
            .map(|(curve, end)| curve.legend(&self.name(curve, end.1)))
            .collect();
        format!("<ul class=\"legend of-lines\">{entries}</ul>")
    }

    /// A little room at both sides, so that no mark is cut and a single point has a place.
    fn across(&self) -> Axis {
        let xs = || {
            self.curves
                .iter()
                .flat_map(|curve| &curve.points)
                .map(|point| point.0)
        };
        let (first, last) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
        if first > last {
            return Axis::whole(0.0, 1.0, 1);
        }
        let room = ((last - first) * 0.02).max(0.1);
        Axis::whole(first - room, last + room, 8)
    }

    /// Accuracies that are all high begin where they can be told apart, everything else at zero.
    fn up(&self) -> Axis {
        let ys = self
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|point| point.1);
        let lowest = ys.fold(f64::MAX, f64::min);
        let bottom = match self.y_max {
            Some(100.0) if lowest > 50.0 && lowest < f64::MAX => ((lowest - 2.0) / 10.0).floor() * 10.0,
            _ => 0.0,
        };
        Axis::linear(bottom, self.top(), 5)
    }

    fn top(&self) -> f64 {
        let ys = self
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|point| point.1);
        let highest = ys.fold(0.0, f64::max);
        let fitting = if highest > 0.0 { highest * 1.05 } else { 1.0 };
        self.y_max.unwrap_or(fitting)
    }

    fn has_marks(&self) -> bool {
        self.curves.iter().map(|curve| curve.points.len()).sum::<usize>() <= MAX_MARKS
    }
}

impl Curve {
    fn drawn(&self, area: &Area, across: &Axis, up: &Axis, first: bool, marks: bool) -> String {
        let places: Vec<(f64, f64)> = self
            .points
            .iter()
            .map(|&(x, y)| (area.x(across, x), area.y(up, y)))
            .collect();
        let steps: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let (path, stroke) = (steps.join("L"), colour(self.colour));
        let (halo, class) = match first {
            true => (format!("<path class=\"halo\" d=\"M{path}\"/>"), " first"),
            false => (String::new(), ""),
        };
        let dots: String = places
            .iter()
            .filter(|_| marks)
            .map(|(x, y)| {
                let radius = if first { 3.6 } else { 2.6 };
                format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{stroke}\"/>")
            })
            .collect();
        if places.is_empty() {
            return String::new();
        }
        format!(
            "<g><title>{}</title>{halo}<path class=\"line{class}\" d=\"M{path}\" stroke=\"{stroke}\" \
             stroke-dasharray=\"{}\"/>{dots}</g>",
            escape(&self.label),
            dashes(self.colour, self.dash)
        )
    }

    fn legend(&self, name: &str) -> String {
        format!(
            "<li><svg viewBox=\"0 0 32 8\" aria-hidden=\"true\"><path d=\"M0 4H32\" stroke=\"{}\" stroke-width=\"3\" \
             stroke-dasharray=\"{}\"/></svg>{}</li>",
            colour(self.colour),
            dashes(self.colour, self.dash),
            escape(name)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(curves: Vec<Vec<(f64, f64)>>) -> Plot {
        let curve = |(colour, points): (usize, Vec<(f64, f64)>)| Curve {
            label: format!("line <{colour}>"),
            colour,
            dash: colour,
            points,
        };
        Plot {
            title: "height & width".into(),
            x_name: "task",
            y_max: None,
            curves: curves.into_iter().enumerate().map(curve).collect(),
        }
    }

    #[test]
    fn a_figure_is_inline_escaped_and_named_where_lines_end() {
        let figure = plot(vec![vec![(1.0, 2.0), (2.0, 3.0)], vec![(1.0, 1.0), (2.0, 0.5)]]).figure();
        assert!(figure.contains("aria-label=\"height &amp; width\""));
        assert!(
            figure.contains("3.00 line &lt;0&gt;</text>") && figure.contains("0.50 line &lt;1&gt;</text>")
        );
        assert!(!figure.contains("xmlns"));
    }

    #[test]
    fn the_first_line_is_drawn_over_all_others() {
        let figure = plot(vec![vec![(1.0, 1.0), (2.0, 1.0)]; 3]).figure();
        let (first, others) = (
            figure.find("line first").unwrap(),
            figure.rfind("class=\"line\"").unwrap(),
        );
        assert!(first > others, "{figure}");
    }

    #[test]
    fn high_accuracies_are_not_squeezed_and_low_ones_begin_at_zero() {
        let bottom = |lowest: f64| {
            let plot = Plot {
                y_max: Some(100.0),
                ..plot(vec![vec![(1.0, lowest), (2.0, 99.0)]])
            };
            plot.up().ticks[0]
        };
        assert_eq!([bottom(93.0), bottom(81.0), bottom(40.0)], [90.0, 70.0, 0.0]);
    }

    #[test]
    fn awkward_curves_are_drawn_all_the_same() {
        for curves in [
            vec![],
            vec![vec![]],
            vec![vec![(1.0, 0.0)]],
            vec![vec![(3.0, 1e9); 100]; 40],
        ] {
            let figure = plot(curves).figure();
            assert!(figure.contains("</svg>") && !figure.contains("NaN"), "{figure}");
        }
    }
}
