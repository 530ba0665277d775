//! Ward's agglomeration with known classes in it.
//!
//! Every row begins as a group of its own. The two groups whose union costs least - n_i n_j / (n_i + n_j) |m_i - m_j|², what
//! the sum of squares grows by - are joined first, and so on. A known class is a group of so many rows that others do not
//! move it: to join it costs n_i |m_i - m_c|². No two known classes are ever joined. What is left above some cost are
//! groups that belong to no known class. A chain of nearest neighbours finds all joins in n² steps.

use crate::math::{Matrix, is_stopped, product};

/// All joins of some rows.
pub(super) struct Tree {
    n_rows: usize,
    /// Ascending by cost.
    joins: Vec<Join>,
}

struct Join {
    cost: f32,
    group: usize,
    with: With,
}

#[derive(Clone, Copy)]
enum With {
    Group(usize),
    Known(u32),
}

/// Where a row is once a tree is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seat {
    /// With a known class.
    Known(u32),
    /// In the group of this row.
    Group(usize),
}

/// Groups that are still apart.
struct Apart {
    n: usize,
    /// Cost of joining two groups, `(n, n)`.
    costs: Vec<f32>,
    /// Cost of joining each known class: `n_known` for each group.
    to_known: Vec<f32>,
    n_known: usize,
    weights: Vec<f32>,
    there: Vec<bool>,
}

impl Tree {
    /// Joins rows, each a column of length 1, with each other and with known classes; none if the work is stopped.
    pub fn grow(rows: &Matrix<f32>, weights: &[f32], known: &Matrix<f32>) -> Option<Self> {
        let mut apart = Apart::new(rows, weights, known);
        let (mut joins, mut chain, mut first) = (Vec::new(), Vec::new(), 0);
        loop {
            let Some(&group) = chain.last() else {
                while first < apart.n && !apart.there[first] {
                    first += 1;
                }
                if first == apart.n {
                    break;
                }
                chain.push(first);
                continue;
            };
            if is_stopped() {
                return None;
            }
            let before = chain.len().checked_sub(2).map(|at| chain[at]);
            let nearest = apart.nearest(group, before);
            match (nearest, apart.nearest_known(group)) {
                (nearest, Some((class, cost))) if nearest.is_none_or(|(_, other)| cost <= other) => {
                    chain.pop();
                    apart.there[group] = false;
                    let with = With::Known(class);
                    joins.push(Join { cost, group, with });
                }
                (Some((other, cost)), _) if Some(other) == before => {
                    chain.truncate(chain.len() - 2);
                    apart.join(other, group);
                    let with = With::Group(other);
                    joins.push(Join { cost, group, with });
                }
                (Some((other, _)), _) => chain.push(other),
                (None, _) => {
                    // The last group, where no class is known.
                    chain.pop();
                    apart.there[group] = false;
                }
            }
        }
        joins.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        Some(Self {
            n_rows: apart.n,
            joins,
        })
    }

    /// Costs at which the tree may be cut: this many, at equal ratios, from the cost of the middle join to the dearest.
    pub fn costs(&self, n: usize) -> Vec<f32> {
        let cost = |at: usize| self.joins.get(at).map_or(0.0, |join| join.cost);
        let dearest = cost(self.joins.len().saturating_sub(1)).max(f32::MIN_POSITIVE);
        let least = cost(self.joins.len() / 2).clamp(f32::EPSILON * dearest, dearest);
        let step = (dearest / least).powf(1.0 / (n - 1) as f32);
        (0..n).map(|k| least * step.powi(k as i32)).collect()
    }

    /// Where each row is when all joins up to this cost are made.
    pub fn cut(&self, cost: f32) -> Vec<Seat> {
        let mut seats: Vec<Seat> = (0..self.n_rows).map(Seat::Group).collect();
        for join in self.joins.iter().take_while(|join| join.cost <= cost) {
            // What was joined first is found by following the seats; neither end has been joined to anything else.
            seats[join.group] = match join.with {
                With::Group(other) => Seat::Group(other),
                With::Known(class) => Seat::Known(class),
            };
        }
        (0..self.n_rows).map(|row| end(&mut seats, row)).collect()
    }
}

/// Follows seats to where they end, and shortens the way.
fn end(seats: &mut [Seat], row: usize) -> Seat {
    let mut at = row;
    let seat = loop {
        match seats[at] {
            Seat::Group(other) if other != at => at = other,
            seat => break seat,
        }
    };
    let mut at = row;
    while let Seat::Group(other) = seats[at] {
        if other == at {
            break;
        }
        seats[at] = seat;
        at = other;
    }
    seat
}

impl Apart {
    fn new(rows: &Matrix<f32>, weights: &[f32], known: &Matrix<f32>) -> Self {
        let (n, n_known) = (rows.n_cols(), known.n_cols());
        // Between unit vectors, |a - b|² = 2 - 2 aᵀb.
        let square = |cosine: f32| (2.0 - 2.0 * cosine).max(0.0);
        let mut costs = product(rows.t(), rows.view()).into_values();
        for (i, costs) in costs.chunks_mut(n.max(1)).enumerate() {
            for (j, cost) in costs.iter_mut().enumerate() {
                let together = weights[i] * weights[j] / (weights[i] + weights[j]);
                *cost = if i == j {
                    f32::INFINITY
                } else {
                    together * square(*cost)
                };
            }
        }
        let mut to_known = product(known.t(), rows.view()).into_values();
        for (costs, weight) in to_known.chunks_mut(n_known.max(1)).zip(weights) {
            costs.iter_mut().for_each(|cost| *cost = weight * square(*cost));
        }
        Self {
            n,
            costs,
            to_known,
            n_known,
            weights: weights.to_vec(),
            there: vec![true; n],
        }
    }

    /// The group that is cheapest to join, and its cost; of equals the one before it in the chain, so that the chain ends.
    fn nearest(&self, group: usize, before: Option<usize>) -> Option<(usize, f32)> {
        let costs = &self.costs[group * self.n..(group + 1) * self.n];
        let mut best = before.map(|other| (other, costs[other]));
        for (other, &cost) in costs.iter().enumerate() {
            if self.there[other] && other != group && best.is_none_or(|(_, least)| cost < least) {
                best = Some((other, cost));
            }
        }
        best
    }

    fn nearest_known(&self, group: usize) -> Option<(u32, f32)> {
        let costs = &self.to_known[group * self.n_known..(group + 1) * self.n_known];
        let best = costs.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        best.map(|(class, &cost)| (class as u32, cost))
    }

    /// Joins `group` to `into`.
    fn join(&mut self, into: usize, group: usize) {
        let n = self.n;
        let cost = self.costs[into * n + group];
        let (a, b) = (self.weights[into], self.weights[group]);
        self.there[group] = false;
        for other in (0..n).filter(|&other| self.there[other] && other != into) {
            let c = self.weights[other];
            let (to_a, to_b) = (self.costs[into * n + other], self.costs[group * n + other]);
            let joined = ((a + c) * to_a + (b + c) * to_b - c * cost) / (a + b + c);
            self.costs[into * n + other] = joined;
            self.costs[other * n + into] = joined;
        }
        for class in 0..self.n_known {
            let more = self.to_known[group * self.n_known + class];
            self.to_known[into * self.n_known + class] += more - cost;
        }
        self.weights[into] += b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::space::to_unit_length;
    use crate::math::{Random, Stream};

    fn random(n: usize, dimensions: usize, random: &mut Random) -> Matrix<f32> {
        let mut places = Matrix::from_fn(dimensions, n, |_, _| random.normal());
        to_unit_length(&mut places);
        places
    }

    /// Ward's criterion from its definition: of all pairs of groups, and of all groups and known classes, the cheapest is joined.
    fn slowly(rows: &Matrix<f32>, weights: &[f32], known: &Matrix<f32>, cost: f64) -> Vec<Option<usize>> {
        let mean = |group: &[usize]| -> Vec<f64> {
            let weight: f64 = group.iter().map(|&row| f64::from(weights[row])).sum();
            let sum = |i: usize| {
                group
                    .iter()
                    .map(|&row| f64::from(weights[row] * rows[(i, row)]))
                    .sum::<f64>()
            };
            (0..rows.n_rows()).map(|i| sum(i) / weight).collect()
        };
        let weight = |group: &[usize]| group.iter().map(|&row| f64::from(weights[row])).sum::<f64>();
        let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let mut groups: Vec<Vec<usize>> = (0..rows.n_cols()).map(|row| vec![row]).collect();
        loop {
            let mut best: Option<(f64, usize, Option<usize>)> = None;
            let mut offer = |cost: f64, group: usize, with: Option<usize>| {
                if best.is_none_or(|(least, _, _)| cost < least) {
                    best = Some((cost, group, with));
                }
            };
            for i in 0..groups.len() {
                let (a, mean_a) = (weight(&groups[i]), mean(&groups[i]));
                for c in 0..known.n_cols() {
                    let class: Vec<f64> = known.col(c).iter().map(|&v| f64::from(v)).collect();
                    offer(a * square(&mean_a, &class), i, None);
                }
                for (j, group) in groups.iter().enumerate().skip(i + 1) {
                    let b = weight(group);
                    offer(a * b / (a + b) * square(&mean_a, &mean(group)), i, Some(j));
                }
            }
            match best.filter(|(least, _, _)| *least <= cost) {
                None => break,
                Some((_, group, None)) => drop(groups.remove(group)),
                Some((_, group, Some(with))) => {
                    let rows = groups.remove(with);
                    groups[group].extend(rows);
                }
            }
        }
        let group_of = |row: usize| groups.iter().position(|group| group.contains(&row));
        (0..rows.n_cols()).map(group_of).collect()
    }

    #[test]
    fn a_chain_of_nearest_neighbours_finds_what_trying_every_pair_finds() {
        let mut numbers = Random::new(4, Stream::HeldBack);
        for (n, n_known) in [(1, 1), (2, 0), (7, 2), (30, 3), (40, 0)] {
            let (rows, known) = (random(n, 5, &mut numbers), random(n_known, 5, &mut numbers));
            let weights: Vec<f32> = (0..n).map(|i| 1.0 + (i % 3) as f32).collect();
            let tree = Tree::grow(&rows, &weights, &known).unwrap();
            for cost in tree.costs(9) {
                // Between two joins, not at one.
                let cost = 1.001 * cost;
                let seats = tree.cut(cost);
                let expected = slowly(&rows, &weights, &known, f64::from(cost));
                for i in 0..n {
                    assert_eq!(
                        matches!(seats[i], Seat::Known(_)),
                        expected[i].is_none(),
                        "row {i} of {n}"
                    );
                    for j in 0..i {
                        let together = matches!(seats[i], Seat::Group(_)) && seats[i] == seats[j];
                        assert_eq!(
                            together,
                            expected[i].is_some() && expected[i] == expected[j],
                            "{i} and {j} of {n}"
                        );
                    }
                }
            }
        }
    }
}
