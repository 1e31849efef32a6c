"""What works over Spark Connect, in a process of its own: `python connect_fit.py FOLDER`.

A server and a client that knows of it nothing but its address; the client has no JVM. Leaves the models' bytes in the folder.
"""

import sys
from pathlib import Path

import numpy as np
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import SparkSession
from rosenblatt.spark import PerceptronClassifier


def main(folder):
    folder = Path(folder)
    spark = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    rows = np.load(folder / "rows.npz")
    data = [(row, float(label)) for row, label in zip(rows["X"].tolist(), rows["y"])]
    data = spark.createDataFrame(data, "features array<double>, label double")
    data = data.repartition(3).sortWithinPartitions("features").cache()
    learner = PerceptronClassifier(maxIter=3, seed=1, probabilityCol="probability", checkpointDir=f"{folder}/checkpoints")
    model = learner.fit(data)
    (folder / "model").write_bytes(model._data)
    parts = data.select("features", "label").mapInArrow(_numbered, "part int, features array<double>, label double").collect()
    order = [(row.part, *row.features, row.label) for row in parts]
    np.save(folder / "order.npy", np.array(order))
    answers = model.transform(data).select("label", "prediction", "rawPrediction", "probability").collect()
    np.save(folder / "answers.npy", np.array([(row.prediction, row.probability[1]) for row in answers]))
    again = PerceptronClassifier(
        maxIter=3, seed=1, probabilityCol="probability", checkpointDir=f"{folder}/checkpoints", resume=True
    ).fit(data)
    assert again._data == model._data
    Pipeline(stages=[learner]).fit(data).write().overwrite().save(f"{folder}/pipeline")
    loaded = PipelineModel.load(f"{folder}/pipeline")
    assert loaded.stages[0]._data == model._data
    plain = PerceptronClassifier(maxIter=1)
    grid = ParamGridBuilder().addGrid(plain.algorithm, ["perceptron", "pa1"]).build()
    judge = MulticlassClassificationEvaluator(metricName="accuracy")
    best = CrossValidator(estimator=plain, estimatorParamMaps=grid, evaluator=judge, numFolds=2).fit(data)
    assert max(best.avgMetrics) > 0.8, best.avgMetrics
    try:
        learner.fit(data.selectExpr("transform(features, f -> if(f = features[0], double('nan'), f)) as features", "label"))
    except ValueError as error:
        (folder / "error").write_text(str(error))
    spark.stop()


def _numbered(batches):
    import pyarrow as pa
    from pyspark import TaskContext

    part = TaskContext.get().partitionId()
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([part] * len(batch), pa.int32()), *batch.columns], ["part", "features", "label"])


if __name__ == "__main__":
    main(sys.argv[1])
