//! Points of several classes as inline SVG without axes: only who lies near whom means anything.

use super::distinct;
use super::page::escape;

/// Ten colours that show on white as well as on near-black; more classes start over.
const COLOURS: [&str; 10] = [
    "#2f7fc4", "#d55e00", "#009e73", "#c76b9d", "#b8860b", "#7f868f", "#8b5cf6", "#ef4444", "#22a2b8",
    "#84a312",
];

/// Side of the picture, and the room at its edges.
const SIDE: f64 = 300.0;
const ROOM: f64 = 8.0;

/// A figure of points with their classes.
pub(super) fn scatter<'a>(title: &str, points: impl Iterator<Item = ((f64, f64), &'a str)>) -> String {
    let points: Vec<((f64, f64), &str)> = points
        .filter(|((x, y), _)| x.is_finite() && y.is_finite())
        .collect();
    let classes = distinct(points.iter().map(|(_, class)| *class));
    let xs = scale(points.iter().map(|(place, _)| place.0));
    let ys = scale(points.iter().map(|(place, _)| place.1));
    let circle = |&((x, y), class): &((f64, f64), &str)| {
        let colour = colour(classes.iter().position(|&other| other == class).unwrap_or(0));
        let (x, y) = (xs(x), SIDE - ys(y));
        format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>")
    };
    let circles: String = points.iter().map(circle).collect();
    let entry = |(place, class): (usize, &&str)| {
        let colour = colour(place);
        let class = escape(class);
        format!(
            "<li><svg viewBox=\"0 0 8 8\" aria-hidden=\"true\"><circle cx=\"4\" cy=\"4\" r=\"4\" fill=\"{colour}\"/></svg>{class}</li>"
        )
    };
    let legend: String = classes.iter().enumerate().map(entry).collect();
    let title = escape(title);
    format!(
        "<figure class=\"card\"><figcaption><b>{title}</b></figcaption>\
         <svg viewBox=\"0 0 {SIDE} {SIDE}\" role=\"img\" aria-label=\"{title}\">{circles}</svg>\
         <ul class=\"legend narrow\">{legend}</ul></figure>\n"
    )
}

fn colour(place: usize) -> &'static str {
    COLOURS[place % COLOURS.len()]
}

/// Where a value lies in the picture.
fn scale(values: impl Iterator<Item = f64> + Clone) -> impl Fn(f64) -> f64 {
    let lowest = values.clone().fold(f64::MAX, f64::min);
    let highest = values.fold(f64::MIN, f64::max);
    let span = (highest - lowest).max(f64::MIN_POSITIVE);
    move |value| ROOM + (value - lowest) / span * (SIDE - 2.0 * ROOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_inside_in_the_colours_of_their_classes() {
        let points = [((-5.0, 0.0), "a"), ((5.0, 10.0), "<b>"), ((f64::NAN, 1.0), "c")];
        let figure = scatter("who & where", points.into_iter());
        assert!(
            figure.contains("<circle cx=\"8.0\" cy=\"292.0\" r=\"2.5\" fill=\"#2f7fc4\"/>"),
            "{figure}"
        );
        assert!(
            figure.contains("<circle cx=\"292.0\" cy=\"8.0\" r=\"2.5\" fill=\"#d55e00\"/>"),
            "{figure}"
        );
        assert!(
            figure.contains("&lt;b&gt;") && figure.contains("who &amp; where") && !figure.contains("NaN")
        );
    }

    #[test]
    fn no_point_and_one_point_are_drawn_all_the_same() {
        assert!(scatter("none", std::iter::empty()).contains("</svg>"));
        assert!(scatter("one", std::iter::once(((3.0, 3.0), "a"))).contains("cx=\"8.0\""));
    }
}
