"""My first model: two classes today, a third one tomorrow, without the rows of today."""

from autoactivator import Consolidation

model = Consolidation()
flowers = [[5.1, 3.5, 1.4, 0.2], [4.9, 3.0, 1.4, 0.2], [7.0, 3.2, 4.7, 1.4], [6.4, 3.2, 4.5, 1.5]]
model.partial_fit(flowers, ["setosa", "setosa", "versicolor", "versicolor"])
print("today:", model.predict([[5.0, 3.4, 1.5, 0.2]]))

model.partial_fit([[6.3, 3.3, 6.0, 2.5], [5.8, 2.7, 5.1, 1.9]], ["virginica", "virginica"])
print("tomorrow:", model.predict([[5.0, 3.4, 1.5, 0.2], [6.5, 3.0, 5.8, 2.2]]))

model.save("flowers.aact")
