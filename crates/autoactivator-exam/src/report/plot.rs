//! Draws curves as inline SVG that takes its ink from the page, so that it reads on light and dark alike.
//!
//! [`Plot`] is one figure with its legend, [`Curve`] one line in it; `curves` decides what is drawn.

use std::error::Error;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::html::escape;

/// After Okabe and Ito, told apart with any colour vision; shades that show on white as well as on near-black.
const PALETTE: [RGBColor; 6] = [
    RGBColor(0x2f, 0x7f, 0xc4),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xc7, 0x6b, 0x9d),
    RGBColor(0xb8, 0x86, 0x0b),
    RGBColor(0x7f, 0x86, 0x8f),
];

/// Length of dashes and of the gaps between them; the first is a line without gaps.
const DASHES: [(u32, u32); 4] = [(1, 0), (8, 4), (2, 4), (14, 3)];

/// A colour that is not in the palette: the place where the page's own ink goes.
const INK: RGBColor = RGBColor(1, 2, 3);
const INK_IN_SVG: &str = "#010203";

const SIZE: (u32, u32) = (480, 280);

/// With more points than this there are no marks, which would hide the lines.
const MAX_MARKS: usize = 120;

/// More lines than this cannot be told apart by a legend.
const MAX_LEGEND: usize = 12;

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn<T> = Result<T, Box<dyn Error>>;

/// One figure.
pub(super) struct Plot {
    /// What is drawn upwards.
    pub title: String,
    /// What is drawn to the right.
    pub x_name: &'static str,
    /// The top of the figure, when the values do not decide it.
    pub y_max: Option<f64>,
    /// The lines.
    pub curves: Vec<Curve>,
}

/// One line of a figure.
pub(super) struct Curve {
    /// Its name in the legend.
    pub label: String,
    /// Which colour, counted from 0; any number will do.
    pub colour: usize,
    /// Which dashes, counted from 0, the solid line.
    pub dash: usize,
    /// Where it goes, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Plot {
    /// The figure with its title and legend.
    pub fn figure(&self) -> String {
        // The text of an SVG held in memory cannot fail to be written, but a report must never fail for a picture.
        let picture = match self.draw() {
            Ok(svg) => self.inline(&svg),
            Err(error) => format!(
                "<p>This figure could not be drawn: {}</p>",
                escape(&error.to_string())
            ),
        };
        format!(
            "<figure class=\"card\"><figcaption><b>{}</b></figcaption>{picture}{}</figure>\n",
            escape(&self.title),
            self.legend()
        )
    }

    fn draw(&self) -> Drawn<String> {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            let mut chart = ChartBuilder::on(&area)
                .margin(10)
                .margin_right(16)
                .x_label_area_size(46)
                .y_label_area_size(48)
                .build_cartesian_2d(self.x_range(), 0.0..self.y_top())?;
            self.draw_axes(&mut chart)?;
            for curve in &self.curves {
                curve.draw(&mut chart, self.has_marks())?;
            }
            area.present()?;
        }
        Ok(svg)
    }

    fn draw_axes(&self, chart: &mut Chart<'_>) -> Drawn<()> {
        let decimals = if self.y_top() > 5.0 { 0 } else { 1 };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(INK.mix(0.12))
            .light_line_style(TRANSPARENT)
            .axis_style(INK.mix(0.35))
            .label_style(("sans-serif", 13).into_font().color(&INK))
            .x_desc(self.x_name)
            .x_labels(8)
            .y_labels(6)
            .x_label_formatter(&whole)
            .y_label_formatter(&|y| format!("{y:.decimals$}"))
            .draw()?;
        Ok(())
    }

    /// Fits the SVG into the page: as wide as there is room, in the ink of the text around it.
    fn inline(&self, svg: &str) -> String {
        let (width, height) = SIZE;
        let content = svg.split_once('>').map_or("", |(_, content)| content);
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">{}",
            escape(&self.title),
            content.replace(INK_IN_SVG, "currentColor")
        )
    }

    fn legend(&self) -> String {
        if self.curves.len() > MAX_LEGEND {
            return format!(
                "<p class=\"note\">{} lines, too many for a legend.</p>",
                self.curves.len()
            );
        }
        let entries: String = self.curves.iter().map(Curve::legend).collect();
        format!("<ul class=\"legend\">{entries}</ul>")
    }

    /// A little room at both sides, so that no mark is cut and a single point has a place.
    fn x_range(&self) -> std::ops::Range<f64> {
        let xs = || {
            self.curves
                .iter()
                .flat_map(|curve| &curve.points)
                .map(|point| point.0)
        };
        let (first, last) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
        if first > last {
            return 0.0..1.0;
        }
        let room = ((last - first) * 0.03).max(0.1);
        first - room..last + room
    }

    fn has_marks(&self) -> bool {
        self.curves.iter().map(|curve| curve.points.len()).sum::<usize>() <= MAX_MARKS
    }

    fn y_top(&self) -> f64 {
        let highest = self
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|point| point.1)
            .fold(0.0, f64::max);
        let fitting = if highest > 0.0 { highest * 1.05 } else { 1.0 };
        self.y_max.unwrap_or(fitting)
    }
}

impl Curve {
    fn draw(&self, chart: &mut Chart<'_>, marks: bool) -> Drawn<()> {
        let style = self.rgb().stroke_width(2);
        let line = self.points.iter().copied();
        match self.dashes() {
            (_, 0) => chart.draw_series(LineSeries::new(line, style))?,
            (dash, gap) => chart.draw_series(DashedLineSeries::new(line, dash, gap, style))?,
        };
        if marks {
            chart.draw_series(
                self.points
                    .iter()
                    .map(|&point| Circle::new(point, 3, self.rgb().filled())),
            )?;
        }
        Ok(())
    }

    fn rgb(&self) -> RGBColor {
        PALETTE[self.colour % PALETTE.len()]
    }

    /// The dashes; they change when the colours start over, so that more lines stay distinct.
    fn dashes(&self) -> (u32, u32) {
        DASHES[(self.dash + self.colour / PALETTE.len()) % DASHES.len()]
    }

    fn legend(&self) -> String {
        let RGBColor(r, g, b) = self.rgb();
        let (dash, gap) = self.dashes();
        format!(
            "<li><svg viewBox=\"0 0 32 8\" aria-hidden=\"true\"><path d=\"M0 4H32\" stroke=\"#{r:02x}{g:02x}{b:02x}\" \
             stroke-width=\"3\" stroke-dasharray=\"{dash} {gap}\"/></svg>{}</li>",
            escape(&self.label)
        )
    }
}

/// Tasks and nodes are counted: a mark between two of them has no label.
fn whole(x: &f64) -> String {
    if (x - x.round()).abs() < 1e-9 {
        format!("{x:.0}")
    } else {
        String::new()
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
    fn a_figure_is_inline_escaped_and_in_the_ink_of_the_page() {
        let figure = plot(vec![vec![(1.0, 2.0), (2.0, 3.0)], vec![(1.0, 1.0), (2.0, 0.5)]]).figure();
        assert!(figure.contains("aria-label=\"height &amp; width\""));
        assert!(figure.contains("line &lt;1&gt;"));
        assert!(figure.contains("currentColor") && !figure.contains(INK_IN_SVG));
        assert!(!figure.contains("xmlns") && !figure.contains("could not be drawn"));
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
            assert!(figure.contains("</svg>") && !figure.contains("could not be drawn"));
        }
    }
}
