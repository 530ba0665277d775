//! The wrong answers that were given with the most confidence, with what the rows look like.

use crate::report::exhibit::Exhibits;
use crate::report::page::{escape, note};
use crate::tally::{Mistake, Tally};

/// A card for each mistake that is kept; nothing if there is none.
pub(super) fn cards(tally: &Tally, exhibits: &Exhibits) -> String {
    let mistakes = tally.mistakes();
    if mistakes.is_empty() {
        return String::new();
    }
    let cards: String = mistakes.iter().map(|mistake| card(mistake, exhibits)).collect();
    let order = match mistakes.iter().any(|mistake| mistake.probability.is_some()) {
        true => {
            "The surest first: a look at them often shows a wrong label, or two classes that cannot be told apart."
        }
        false => "This learner does not tell how sure it is; these are the first ones.",
    };
    format!("{}<div class=\"mistakes\">{cards}</div>\n", note(order))
}

fn card(mistake: &Mistake, exhibits: &Exhibits) -> String {
    let (class, answer) = (escape(&mistake.class), escape(&mistake.answer));
    let name = match &mistake.name {
        Some(name) => escape(name),
        None => format!("row {}", mistake.row),
    };
    let sure = match mistake.probability {
        Some(probability) => format!(" · {:.1}&nbsp;%&nbsp;sure", 100.0 * probability),
        None => String::new(),
    };
    let shown = exhibits
        .get(&mistake.row)
        .map_or_else(String::new, |exhibit| exhibit.html(&mistake.class));
    format!(
        "<figure class=\"card mistake\">{shown}<figcaption><b>{class}</b> taken for <b class=\"no\">{answer}</b>\
         <small>{name}{sure}</small></figcaption></figure>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::exhibit::Exhibit;
    use crate::tally::Seen;

    #[test]
    fn a_mistake_shows_its_row_and_how_sure_it_was() {
        let mut tally = Tally::default();
        assert_eq!(cards(&tally, &Exhibits::new()), "");
        let probability = Some(0.987);
        tally.add(&Seen {
            row: 5,
            name: Some("<1>.jpg"),
            class: "cat",
            answer: "dog",
            probability,
        });
        tally.add(&Seen {
            row: 7,
            class: "dog",
            answer: "cat",
            ..Seen::default()
        });
        let exhibits = Exhibits::from([(7, Exhibit::Sentence("a bark".into()))]);
        let cards = cards(&tally, &exhibits);
        assert!(cards.contains("&lt;1&gt;.jpg · 98.7&nbsp;%&nbsp;sure"), "{cards}");
        assert!(
            cards.contains("<blockquote>a bark</blockquote>") && cards.contains("row 7</small>"),
            "{cards}"
        );
    }
}
