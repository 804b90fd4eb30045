"""The figures of the scenarios: what one prediction is made of. Shared parts come from `figures`."""

import numpy as np

from .figures import COLOURS, TEXT, corner, draw_data, draw_estimate, draw_query, draw_truth, panels, say


def _bars(ax, names, estimate, truth):
    """Horizontal bars of an estimate, a grey tick at the truth; the first name stands on top."""
    rows = np.arange(len(names))
    ax.barh(rows, estimate, color=COLOURS["estimate"], height=0.62)
    ax.plot(truth, rows, "|", color=TEXT["ink"], markersize=15, markeredgewidth=2)
    ax.set(ylim=(len(names) - 0.4, -0.6), xlim=(0, None))
    ax.set_yticks(rows, names)
    ax.tick_params(axis="y", length=0)


def interests_of_a_user(places, place, weights, names, estimate, truth):
    """Left: known users on the map, area by weight, and the new user. Right: the predicted interests.

    Parameters
    ----------
    places : (n, 2) array
        Map coordinates, in km.
    place : (2,) array
    weights : (n,) array
    names : sequence of str
    estimate, truth : arrays of the length of `names`
    """
    figure, axes = panels(1, 2, 3.1)
    left, right = axes[0]
    draw_data(left, *places.T, sizes=6 + 1500 * weights)
    left.plot(*place, "P", color=COLOURS["query"], markersize=9, markeredgecolor="white", zorder=5)
    left.set(xlabel="east / km", ylabel="north / km", aspect="equal", xticks=range(0, 11, 2), yticks=range(0, 11, 2))
    corner(left, "known users, area: weight")
    _bars(right, names, estimate, truth)
    right.set_xlabel("share of clicks")
    corner(right, "bar: estimate, tick: truth")
    return figure


def weight_and_influence(names, weights, influence):
    """Two rows of bars for the same examples: their weights, and how the prediction moves without each.

    Parameters
    ----------
    names : sequence of str
        What stands beside the bars.
    weights, influence : arrays of that length
    """
    figure, axes = panels(1, 2, 0.9 + 0.3 * len(names), sharey=True)
    rows = np.arange(len(names))
    for ax, bars, colour, label in zip(axes[0], (weights, influence), (COLOURS["data"], COLOURS["second"]),
                                       ("weight", "change without it / rating points")):
        ax.barh(rows, bars, color=colour, height=0.62)
        ax.axvline(0, color="#9a9a9a", linewidth=0.8)
        ax.set(xlabel=label, ylim=(len(names) - 0.4, -0.6))
        ax.locator_params(axis="x", nbins=4)
        ax.tick_params(axis="y", length=0)
    axes[0, 0].set_yticks(rows, names)
    return figure


def clicks_behind_a_rate(impressions, rates, shares, estimate, truth):
    """Adverts by impressions and observed click rate, area by their share in one estimate.

    Parameters
    ----------
    impressions, rates, shares : (n,) arrays
        Rates in per cent.
    estimate, truth : float
        In per cent.
    """
    figure, axes = panels(1, 1, 3.2)
    ax = axes[0, 0]
    draw_data(ax, impressions, rates, sizes=6 + 1200 * shares)
    ax.axhline(truth, color=COLOURS["truth"], linestyle=(0, (5, 3)), linewidth=1.6)
    ax.axhline(estimate, color=COLOURS["estimate"])
    high = estimate > truth
    for level, words, role, above in ((estimate, "estimate", "estimate", high), (truth, "truth", "truth", not high)):
        ax.annotate(words, (0, level), (4, 3 if above else -3), xycoords=("axes fraction", "data"),
                    textcoords="offset points", va="bottom" if above else "top", color=TEXT[role], fontsize=9.5)
    ax.set(xscale="log", xlabel="impressions", ylabel="click rate / %", ylim=(-1, None))
    return figure


def clicks_behind_a_ranking(topics, topic, documents, weights, plain, corrected, truth):
    """Left: logged queries near one query, named by the document clicked. Right: the documents' scores.

    Parameters
    ----------
    topics : (n, 2) array
    topic : (2,) array
    documents : (n,) array of int
    weights : (n,) array
        Area of the logged queries; they are brought to sum one.
    plain, corrected, truth : arrays, one number for each document
        Each is drawn as a share of its sum.
    """
    figure, axes = panels(1, 2, 3.2)
    left, right = axes[0]
    draw_data(left, *topics.T, sizes=8 + 3000 * weights / weights.sum())
    for j in np.argsort(weights)[::-1][:10]:
        say(left, *topics[j], str(documents[j]), "ink", ha="center", fontsize=10, zorder=6, clip_on=True)
    left.plot(*topic, "P", color=COLOURS["query"], markersize=9, markeredgecolor="white", zorder=7)
    left.set(xlabel="topic 1", ylabel="topic 2", xlim=topic[0] + np.array([-0.7, 0.7]),
             ylim=topic[1] + np.array([-0.7, 0.7]))
    corner(left, "logged queries, area: corrected weight", fontsize=9)
    rows = np.arange(len(truth))
    right.barh(rows - 0.2, corrected / corrected.sum(), color=COLOURS["estimate"], height=0.36)
    right.barh(rows + 0.2, plain / plain.sum(), color="white", edgecolor=COLOURS["second"], hatch="////", height=0.36)
    right.plot(truth / truth.sum(), rows, "|", color=TEXT["ink"], markersize=17, markeredgewidth=2)
    right.set(xlabel="share of the score", ylabel="document", ylim=(len(truth) - 0.4, -0.6))
    right.tick_params(axis="y", length=0)
    corner(right, "corrected (solid), plain (hatched)", fontsize=9)
    return figure


def frames_behind_a_frame(times, ratings, weights, query_times, estimate, truth, query):
    """Rated frames over time, area by their weight for one frame, with the truth and the estimate of the others.

    Parameters
    ----------
    times, ratings, weights : (n,) arrays
        Of the rated frames; times in seconds.
    query_times, estimate, truth : (m,) arrays
        Of the frames without a rating, in order of time.
    query : float
        The time of the frame that the weights belong to.
    """
    figure, axes = panels(1, 1, 3.2)
    ax = axes[0, 0]
    draw_query(ax, query)
    draw_truth(ax, query_times, truth)
    draw_estimate(ax, query_times, estimate, linewidth=1.6)
    draw_data(ax, times, ratings, sizes=5 + 900 * weights)
    ax.set(xlabel="time / s", ylabel="importance", ylim=(-0.03, 1.05), xlim=(0, times.max()))
    return figure
