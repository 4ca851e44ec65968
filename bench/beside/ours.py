"""What a fit of ours tells of itself."""


def told_by(model):
    """Reads of the data, with columns that were read by themselves as their share of it; and how the fit ended."""
    reads = model.n_reads_ + model.n_columns_read_ / model.n_features_in_
    return {"reads": float(reads), "status": model.status_}
