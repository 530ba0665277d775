//! Given thresholds as SVG: a panel for each class order, a column for each unit, a dot for each task.
//!
//! [`figure`] is for the page and takes its ink; [`file`] stands alone, on white.

use super::page::escape;
use crate::given::Order;

/// The size of a panel, and the room inside for its title above, its axis at the left and the units below.
const PANEL: (f64, f64) = (230.0, 170.0);
const ROOM: (f64, f64, f64) = (24.0, 30.0, 18.0);

/// The height of the legend.
const LEGEND: f64 = 22.0;

/// Panels side by side.
const ACROSS: usize = 4;

/// After Okabe and Ito: a unit's own task, tasks of others, and one that wakes it by mistake.
const OWN: &str = "#2f7fc4";
const OTHER: &str = "#9aa1a9";
const MISTAKEN: &str = "#d5270e";

/// The picture as a figure of a page.
pub(super) fn figure(title: &str, orders: &[Order]) -> String {
    let (title, svg) = (escape(title), svg(orders, ""));
    format!("<figure class=\"card wide\"><figcaption><b>{title}</b></figcaption>{svg}</figure>\n")
}

/// The picture as a file.
pub(super) fn file(orders: &[Order]) -> String {
    let alone = "xmlns=\"http://www.w3.org/2000/svg\" color=\"#222\" style=\"background:#fff\" ";
    svg(orders, alone)
}

fn svg(orders: &[Order], attributes: &str) -> String {
    let (across, down) = (orders.len().min(ACROSS), orders.len().div_ceil(ACROSS));
    let (width, height) = (across as f64 * PANEL.0, down as f64 * PANEL.1 + LEGEND);
    let axis = Axis::of(orders);
    let panel = |(k, order): (usize, &Order)| {
        let (x, y) = ((k % ACROSS) as f64 * PANEL.0, (k / ACROSS) as f64 * PANEL.1);
        format!(
            "<g transform=\"translate({x} {y})\">{}</g>\n",
            panel(order, &axis)
        )
    };
    let panels: String = orders.iter().enumerate().map(panel).collect();
    format!(
        "<svg {attributes}viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\" \
         fill=\"currentColor\">\n{panels}{}</svg>\n",
        legend(height - 6.0)
    )
}

/// What the colours stand for, in a line below the panels.
fn legend(y: f64) -> String {
    let entry = |(nth, (colour, words)): (usize, (&str, &str))| {
        let x = ROOM.1 + nth as f64 * 125.0;
        format!(
            "<circle cx=\"{x}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/><text x=\"{}\" y=\"{y:.1}\">{words}</text>",
            y - 4.0,
            x + 8.0
        )
    };
    let colours = [
        (OWN, "the unit's own task"),
        (OTHER, "another task"),
        (MISTAKEN, "wakes it by mistake"),
    ];
    let entries: String = colours.into_iter().enumerate().map(entry).collect();
    format!(
        "<g>{entries}<text x=\"{}\" y=\"{y:.1}\">bar: the unit's threshold</text></g>\n",
        ROOM.1 + 383.0
    )
}

/// The same heights in all panels, so that they can be compared.
struct Axis {
    top: f64,
}

impl Axis {
    fn of(orders: &[Order]) -> Self {
        let highest = |order: &Order| {
            let dots = order.tasks.iter().flat_map(|groups| {
                let pairs = groups.given.iter().zip(&groups.spread);
                pairs.map(|(given, spread)| given + spread)
            });
            dots.chain(order.thresholds.iter().copied()).fold(0.0, f64::max)
        };
        let top = orders.iter().map(highest).fold(0.0, f64::max);
        Self {
            top: if top > 0.0 { top } else { 1.0 },
        }
    }

    fn y(&self, value: f64) -> f64 {
        let (above, _, below) = ROOM;
        PANEL.1 - below - value.max(0.0) / self.top * (PANEL.1 - above - below)
    }

    /// Lines at a few round heights, with their numbers.
    fn lines(&self) -> String {
        let step = if self.top > 0.3 { 0.1 } else { 0.05 };
        let line = |k: usize| {
            let (value, left, right) = (k as f64 * step, ROOM.1, PANEL.0 - 8.0);
            let y = self.y(value);
            format!(
                "<path d=\"M{left} {y:.1}H{right}\" stroke=\"currentColor\" stroke-opacity=\"0.15\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value:.2}</text>",
                left - 4.0,
                y + 4.0
            )
        };
        (0..=(self.top / step) as usize).map(line).collect()
    }
}

fn panel(order: &Order, axis: &Axis) -> String {
    let n_units = order.thresholds.len();
    let column = (PANEL.0 - 8.0 - ROOM.1) / n_units.max(1) as f64;
    let units = (0..n_units).map(|u| unit(order, u, axis, (ROOM.1 + u as f64 * column, column)));
    let lost: Vec<String> = order.lost().map(|t| (t + 1).to_string()).collect();
    let lost = match &lost[..] {
        [] => String::new(),
        [task] => format!(": task {task} is lost"),
        tasks => format!(": tasks {} are lost", tasks.join(", ")),
    };
    format!(
        "<text x=\"{}\" y=\"15\" font-weight=\"bold\">class order {}{lost}</text>{}{}",
        ROOM.1,
        order.seed,
        axis.lines(),
        units.collect::<String>()
    )
}

/// One unit: its threshold as a bar, and what it is given for each task as a dot.
fn unit(order: &Order, u: usize, axis: &Axis, (left, width): (f64, f64)) -> String {
    let place = |t: usize| left + width * (t as f64 + 1.0) / (order.tasks.len() as f64 + 1.0);
    let dot = |t: usize| {
        let groups = &order.tasks[t];
        let colour = match groups.awake == u {
            _ if t == u => OWN,
            true => MISTAKEN,
            false => OTHER,
        };
        let (x, given, spread) = (place(t), groups.given[u], groups.spread[u]);
        format!(
            "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"{colour}\"/><circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{colour}\"/>",
            axis.y(given - spread),
            axis.y(given + spread),
            axis.y(given)
        )
    };
    let dots: String = (0..order.tasks.len()).map(dot).collect();
    let bar = axis.y(order.thresholds[u]);
    format!(
        "<path d=\"M{:.1} {bar:.1}h{:.1}\" stroke=\"currentColor\" stroke-width=\"1.5\"/>{dots}\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">unit {}</text>",
        left + 1.0,
        width - 2.0,
        left + width / 2.0,
        PANEL.1 - 4.0,
        u + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::Groups;

    fn order() -> Order {
        let groups = |given: [f64; 2], awake| Groups {
            given: given.to_vec(),
            spread: vec![0.01, 0.02],
            awake,
        };
        Order {
            seed: 3,
            thresholds: vec![0.2, 0.1],
            tasks: vec![groups([0.19, 0.0], 0), groups([0.2, 0.07], 0)],
        }
    }

    #[test]
    fn colours_are_explained() {
        let svg = file(&[order()]);
        assert!(
            svg.contains("another task</text>") && svg.contains("bar: the unit's threshold"),
            "{svg}"
        );
    }

    #[test]
    fn a_task_that_wakes_another_unit_is_named_and_red() {
        let svg = file(&[order()]);
        assert!(svg.contains("class order 3: task 2 is lost"), "{svg}");
        assert_eq!(svg.matches(&format!("r=\"2.6\" fill=\"{MISTAKEN}\"")).count(), 1);
        assert_eq!(svg.matches(&format!("r=\"2.6\" fill=\"{OWN}\"")).count(), 2);
        assert_eq!(svg.matches(&format!("r=\"2.6\" fill=\"{OTHER}\"")).count(), 1);
    }

    #[test]
    fn a_page_needs_nothing_from_outside_and_no_order_is_drawn_all_the_same() {
        let figure = figure("who & why", &[order()]);
        assert!(figure.contains("who &amp; why") && !figure.contains("http:"));
        assert!(file(&[]).contains("</svg>"));
    }
}
