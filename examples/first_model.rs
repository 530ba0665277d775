//! My first model: two classes today, a third one tomorrow, without the rows of today.

use autoactivator::prelude::*;

fn main() -> Result<(), Error> {
    let mut model = Model::new("consolidation", &serde_json::json!({}))?;
    let today = [5.1, 3.5, 1.4, 0.2, 4.9, 3.0, 1.4, 0.2, 7.0, 3.2, 4.7, 1.4];
    let names = Labels::from_names(["setosa", "setosa", "versicolor"]);
    model.learn(Rows::new(&today, 4)?, &names, &mut ())?;
    let tomorrow = [6.3, 3.3, 6.0, 2.5, 5.8, 2.7, 5.1, 1.9];
    let names = Labels::from_names(["virginica", "virginica"]);
    model.learn(Rows::new(&tomorrow, 4)?, &names, &mut ())?;
    let found = model.predict(Rows::new(&[6.5, 3.0, 5.8, 2.2], 4)?)?;
    println!("{}", model.classes()[found[0] as usize]);
    model.save("flowers.aact")
}
