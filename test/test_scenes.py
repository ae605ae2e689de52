"""Scenes as experiments: what stands must stand, what slides must slide as far as it should, in every unit."""
import csv
import math

import pytest

from test_cli import USAGE, here, run, run_json

G = 9.81


def simulate(scene, *arguments, **parameters):
    chosen = [word for name, value in parameters.items() for word in ("-p", f"{name}={value!r}")]
    ended = run_json("run", scene, *chosen, *arguments)
    assert all(math.isfinite(ended[key]) for key in ("kinetic", "potential", "drift", "turn"))
    return ended


def energy(ended):
    return ended["kinetic"] + ended["potential"]


def trace(scene, *arguments, **parameters):
    """The figures of every step, by name."""
    ended = simulate(scene, *arguments, "--trace", "trace.csv", **parameters)
    with open("trace.csv") as lines:
        rows = list(csv.DictReader(lines))
    return ended, {name: [float(row[name]) for row in rows] for name in rows[0] if name != "status"}


# ---- what stands ------------------------------------------------------------------------------------------------

# Bodies may settle into the slop, a thousandth of the thinnest one; a tenth of that is left for what solvers leave.
STANDING = {
    "brick-wall": (["--steps", 500], {}, 0.071),
    "box-pyramid": (["--steps", 60], {"base": 20}, 1.0),
    "massratio": (["--steps", 500], {}, 0.2),
    "massratio of a million": (["--steps", 200], {"heavy": 1e6}, 0.2),
    "masonry-arch": (["--steps", 1000], {}, 0.4),
    "card-house": (["--steps", 500], {}, 0.002),
}


@pytest.mark.parametrize("name", STANDING)
def test_what_is_built_well_stands(name):
    steps, parameters, thin = STANDING[name]
    ended = simulate(name.split()[0], *steps, **parameters)
    assert ended["drift"] < 1.1e-3 * thin and ended["penetration"]["most"] < 1.1e-3 * thin
    assert ended["turn"] < 1e-3
    assert ended["unfinished_steps"] == 0
    assert ended["most_energy"] <= ended["start_energy"] * (1 + 1e-6)  # a million to one leaves 1e-7 of its own


def test_an_arch_stands_from_the_friction_that_statics_demands():
    """Ten percent to either side: the margin within which a mechanism needs longer than this to show."""
    needed = simulate("masonry-arch", "--steps", 1)["figures"]["friction_needed"]
    assert 0.30 < needed < 0.32  # 15 stones, thickness 0.3 of the radius, by statics
    stands = simulate("masonry-arch", "--time", 5, mu=1.1 * needed)
    falls = simulate("masonry-arch", "--time", 5, mu=0.9 * needed)
    assert abs(stands["figures"]["keystone_sinks"]) < 1e-6
    assert falls["figures"]["keystone_sinks"] > 1


def test_an_arch_of_an_even_number_of_stones_is_refused():
    assert "expected an odd number" in run("run", "masonry-arch", "-p", "blocks=8", code=USAGE).stderr


# ---- other units, other sizes -----------------------------------------------------------------------------------

UNITS = {"mm, g, ms": (1e3, 1e3, 1e3), "km": (1e-3, 1, 1), "inches, pounds": (39.37, 2.2046, 1)}


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("scene, steps", [("brick-wall", 200), ("masonry-arch", 200), ("massratio", 200)])
def test_units_do_not_matter(scene, steps, units):
    """The same world in other numbers. They round otherwise, so that drifts agree only in what they are a share of."""
    length, mass, time = UNITS[units]
    metres = simulate(scene, "--steps", steps)
    other = simulate(scene, "--steps", steps, "--length-unit", length, "--mass-unit", mass, "--time-unit", time)
    assert other["unfinished_steps"] == metres["unfinished_steps"] == 0
    assert other["drift"] / length == pytest.approx(metres["drift"], abs=1e-5)
    assert other["potential"] == pytest.approx(metres["potential"] * mass * (length / time)**2, rel=1e-4)
    assert other["contacts"]["last"] == metres["contacts"]["last"]


@pytest.mark.parametrize("size", [2.0**-10, 2.0**10])
def test_size_does_not_matter(size):
    """Lengths by s, masses by s^3, times by sqrt(s): the similar world, a wall of millimetres or of kilometres. Powers
    of two round alike, so that the drift is the same in its share of the size, to nearly all digits."""
    scale = ["--length-unit", size, "--mass-unit", size**3, "--time-unit", math.sqrt(size)]
    metres, similar = simulate("brick-wall", "--steps", 200), simulate("brick-wall", "--steps", 200, *scale)
    assert similar["drift"] / size == pytest.approx(metres["drift"], rel=1e-9)
    assert similar["penetration"]["most"] / size == pytest.approx(metres["penetration"]["most"], rel=1e-9)


def test_scenes_driven_in_si_units_refuse_others():
    assert "SI units" in run("run", "tilting-plane", "--length-unit", "1000", code=USAGE).stderr


# ---- friction ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mu, speed", [(0.25, 0), (0.3, 0), (0.1, -1), (0.5, 2)])
def test_a_block_slides_as_far_as_coulomb_says(mu, speed):
    ended = simulate("sliding-block", "--time", 3, mu=mu, speed=speed)
    # what the stop rule leaves of a velocity, 1e-4 g h, for three seconds
    assert abs(ended["figures"]["error"]) < 1e-4 * G * 0.01 * 3
    if mu > math.tan(math.radians(15)) and speed == 0:
        assert abs(ended["figures"]["slid"]) < 1e-6


@pytest.mark.parametrize("along, across, grain", [(0.1, 0.2, 30), (0.2, 0.05, -50), (0.2, 0.1, 0)])
def test_a_block_on_a_grain_slides_in_the_direction_of_the_associated_law(along, across, grain):
    """From rest it keeps the direction e in which pull minus friction, g cos(slope) mu_k^2 e_k / |mu_k e_k|, points along e."""
    n, h, slope, turn = 100, 0.01, math.radians(15), math.radians(grain)
    figures = simulate("sliding-block", "--steps", n, "--accurate", mu=along, mu_across=across, grain=grain)["figures"]
    slid, sideways = figures["slid"], figures["sideways"]
    at = (math.cos(turn) * slid + math.sin(turn) * sideways, math.cos(turn) * sideways - math.sin(turn) * slid)
    pull = (G * math.sin(slope) * math.cos(turn), -G * math.sin(slope) * math.sin(turn))
    size = math.hypot(along * at[0], across * at[1])
    for k, mu in enumerate((along, across)):
        law = pull[k] - G * math.cos(slope) * mu**2 * at[k] / size
        assert at[k] / (h * h * n * (n + 1) / 2) == pytest.approx(law, abs=1e-4 * G)  # the stop rule
    assert abs(figures["error"]) < 1e-4 and abs(figures["sideways_error"]) < 1e-4
    assert sideways * grain * (across - along) > 0 or grain == 0 and abs(sideways) < 1e-6  # towards the smooth direction


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_a_tilted_block_slips_at_the_angle_of_friction(mu):
    """It is noticed 2e-4 m later: x = g w t^3 / (6 cos), as the pull grows with the angle."""
    coulomb, rate = math.atan(mu), math.radians(2)
    figures = simulate("tilting-plane", "--time", coulomb / rate + 1, mu=mu)["figures"]
    late = (6 * 2e-4 * math.cos(coulomb) / (G * rate))**(1 / 3)  # s
    assert figures["coulomb"] == pytest.approx(math.degrees(coulomb))
    assert 0 < figures["slips_at"] - figures["coulomb"] < math.degrees(rate * (late + 0.02))  # and two steps


def test_friction_is_the_same_in_all_directions():
    figures = simulate("isotropy")["figures"]
    brake, h = 0.3 * G, 0.01
    n = math.floor(1 / (brake * h))  # steps of semi-implicit Euler in which it still moves
    assert figures["distance"] == pytest.approx(h * (n - brake * h * n * (n + 1) / 2), rel=1e-5)
    assert figures["spread"] < 1e-6 and figures["sideways"] < 1e-6


def test_stick_slip_converges_with_the_step():
    """Half the step, half the error, of break-away and period. A rule that waits for a speed is late by a time like sqrt(h), and
    a measurement that waits for one by a time that stays: then a fourth of the step would not give a third of the error."""
    errors = []
    for h in (0.002, 0.0005, 0.000125):
        figures = simulate("belt", "--dt", h, "--time", 3.2, "--accurate", "--stop", "relative_energy<1e-12")["figures"]
        errors.append(abs(figures["period"] / figures["expected_period"] - 1))
        # in a step the belt carries the block over 0.1 m/s h; it is seen to let go within one
        assert abs(figures["slip_stretch"] - figures["expected_stretch"]) <= 0.1 * h
    assert errors[0] > 3 * errors[1] and errors[1] > 2.5 * errors[2] and errors[2] < 1e-3


def test_a_belt_makes_its_block_stick_and_slip(here):
    """Stretch and period of the textbook; a step of the belt is 2e-4 m, and the implicit spring damps by w h."""
    ended, figures = trace("belt", "--time", 6)
    last = ended["figures"]
    assert last["slip_stretch"] == pytest.approx(last["expected_stretch"], abs=1e-3)
    assert last["period"] == pytest.approx(last["expected_period"], rel=0.02)
    fades = simulate("belt", "--time", 30, mu_static=0.4)["figures"]
    assert fades["stretch"] == pytest.approx(0.4 * G / 100, rel=0.02)  # sliding friction holds it


def test_a_grasp_does_not_creep():
    assert abs(simulate("grasped-block", "--time", 60)["figures"]["sunk"]) < 1e-6
    assert simulate("grasped-block", "--time", 1, squeeze=19)["figures"]["sunk"] > 0.01  # 2 kg need 19.6 N


def test_painleves_rod_jams_at_once(here):
    """The tip stops dead; what is left is a turn about it, with 3/4 sin^2 of the speed (thin rod). Nothing but friction
    above the critical value does that."""
    left = 5 * 0.75 * math.sin(math.radians(63.43))**2
    _, jammed = trace("painleve", "--steps", 3)
    assert jammed["speed"][0] == pytest.approx(left, rel=0.02)
    _, slides = trace("painleve", "--steps", 3, mu=1.2)
    assert slides["speed"][0] > 4.9


# ---- joints -----------------------------------------------------------------------------------------------------

def test_a_hanging_rod_keeps_to_its_joint_for_a_minute(here):
    ended, figures = trace("hanging-rod", "--time", 60)
    assert max(figures["position_error"]) < 1e-5 and max(figures["velocity_error"]) < 1e-5
    swing = 2 * (ended["start_energy"] - ended["least_energy"])
    assert energy(ended) == pytest.approx(ended["start_energy"], abs=0.2 * abs(swing))


@pytest.mark.parametrize("scene, time", [("chain", 10), ("joint-tree", 1)])
def test_joints_hold(scene, time, here):
    _, figures = trace(scene, "--time", time)
    assert max(figures["joint_gap"]) < 1.1e-5  # joint_tolerance


def test_gears_and_cranks_turn_as_told():
    gears = simulate("gear-train", "--time", 5)["figures"]
    assert gears["first"] == pytest.approx(5, rel=1e-5) and abs(gears["ratio_error"]) < 1e-5
    assert simulate("four-bar", "--time", 5)["figures"]["crank_speed"] == pytest.approx(3, rel=1e-4)


def test_a_cart_rolls_and_its_axles_do_not_brake():
    figures = simulate("cart", "--time", 5)["figures"]
    assert figures["speed"] == pytest.approx(figures["rolling"], rel=1e-4)


def test_a_top_precesses():
    """First order in h: half a degree of tilt and a thousandth of the rate in five seconds at 0.25 ms."""
    figures = simulate("spinning-top", "--time", 5)["figures"]
    assert figures["tilt"] == pytest.approx(30, abs=0.5)
    assert figures["precession"] == pytest.approx(figures["expected"], rel=1e-3)


# ---- machines ---------------------------------------------------------------------------------------------------

def slip(figures, start):
    """How far the object has moved down in the hand from step `start` on, in m."""
    return abs(figures["in_hand_z"][-1] - figures["in_hand_z"][start])


def test_an_arm_carries_a_block_without_slip(here):
    """Coulomb's law lets nothing move: what is left is the stop rule, 1e-8, and the elasticity of the fingers' drives."""
    _, figures = trace("powerball-grasp", "--time", 5)
    assert slip(figures, 245) < 1e-6 and figures["lift"][-1] == pytest.approx(0.2, abs=1e-4)
    assert figures["tracking"][-1] < 1e-5  # rad: joints are where the controller wants them
    assert max(figures["joint_gap"]) < 1e-3  # (omega h)^2 / gamma of the links, at 1 rad/s: Baumgarte's lag
    _, weak = trace("powerball-grasp", "--time", 5, "--solver", "nsgs", "--iterations", 100)
    assert slip(weak, 245) > 1e-2 and max(weak["joint_gap"]) > 1e-2


@pytest.mark.parametrize("ratio", [1e2, 1e4])
def test_light_fingers_hold_a_goblet(here, ratio):
    _, figures = trace("mass-ratio-grasp", "--time", 3, ratio=ratio)
    assert slip(figures, 120) < 1e-6 and figures["lift"][-1] > 0.12


def test_light_fingers_give_way_when_a_solver_is_stopped_early(here):
    ended, figures = trace("mass-ratio-grasp", "--time", 3, "--solver", "nsgs", "--iterations", 100)
    assert figures["lift"][-1] < 0.0 and ended["unfinished_steps"] > 100


def test_a_loader_drives_lifts_and_backs_out(here):
    """25 rocks do not stop it: its wheels roll as far as the driver wants, and its bucket ends above its roof. Of twelve it may lift
    none, and what it lifts depends on last digits."""
    _, figures = trace("wheel-loader", rocks=25)
    assert figures["joint_gap"][-1] < 1e-4 and figures["bucket"][-1] == pytest.approx(2.52, abs=0.02)
    assert max(figures["way"]) > 2.0 and figures["way"][-1] < max(figures["way"]) - 0.5
    assert 0 < figures["load"][-1] < 1000


# ---- impacts ----------------------------------------------------------------------------------------------------

def test_newtons_cradle_passes_the_blow_on(here):
    """One ball goes in, one goes out: with nearly the speed of the first, which is that of its fall."""
    ended, figures = trace("newtons-cradle", "--time", 0.6)
    fall = math.sqrt(2 * G * 0.6 * (1 - math.cos(0.6)))  # a small ball on a string of 0.6 m
    assert max(figures["first"]) == pytest.approx(fall, rel=0.01)
    assert max(figures["last"]) == pytest.approx(fall, rel=0.01)
    assert energy(ended) == pytest.approx(ended["start_energy"], abs=0.01 * 4.2)  # J: what was lifted


def test_all_dominoes_fall_and_a_wide_gap_stops_them():
    assert simulate("domino", "--time", 3)["figures"]["fallen"] == 40
    assert simulate("domino", "--time", 1, spacing=1.2)["figures"]["fallen"] < 5


def test_a_ball_bounces_by_newtons_law():
    """Dropped by 9 m (height less radius) with e = 0.5: its energy above rest is a quarter after the impact, which comes
    up to one step, v h of the height, too early."""
    ended = simulate("sphere-drop", "--time", 1.5, "--dt", 0.001, restitution=0.5)
    rest = ended["start_energy"] / 10  # at a height of one radius
    assert (energy(ended) - rest) / (ended["start_energy"] - rest) == pytest.approx(0.25, rel=0.03)


@pytest.mark.parametrize("scene, steps", [("ten-balls", 1000), ("pachinko", 300), ("rock-pile", 150), ("log-pile", 200),
                                          ("box-drop", 200), ("spheres125", 200), ("checkers", 200),
                                          ("spheres-on-cube", 100), ("tippe-top", 3000), ("rattleback", 3000)])
def test_no_energy_comes_from_nowhere(scene, steps):
    ended = simulate(scene, "--steps", steps)
    fallen = ended["start_energy"] - ended["least_energy"]
    assert ended["most_energy"] <= ended["start_energy"] + 1e-3 * abs(fallen)


def test_a_tippe_top_turns_upside_down():
    ended = simulate("tippe-top", "--time", 3)
    assert ended["figures"]["stem_points_up"] < -0.5
    assert ended["potential"] > 1.1 * simulate("tippe-top", "--steps", 1)["potential"]  # spin lifts it


def test_a_rattleback_turns_back(here):
    _, figures = trace("rattleback", "--time", 4)
    assert figures["spin"][0] < -7.9 and max(figures["spin"]) > 1


# ---- machines in both coordinates --------------------------------------------------------------------------------

def in_both(scene, *arguments, **parameters):
    """Figures in maximal and in minimal coordinates; the joints of the latter are exact."""
    maximal = simulate(scene, *arguments, **parameters)["figures"]
    minimal = simulate(scene, *arguments, "--coordinates", "minimal", **parameters)["figures"]
    assert minimal["joint_gap"] < 1e-15  # rounding of lengths of a metre
    assert maximal["joint_gap"] < 1e-3  # what stabilisation leaves of a link
    return maximal, minimal


def test_an_arm_lays_its_hand_on_the_ground():
    """Two rules of first order: after 3 s at rest, what differs is where the hand came to a stop."""
    maximal, minimal = in_both("arm")
    assert minimal["hand_height"] == pytest.approx(maximal["hand_height"], abs=1e-3)
    assert minimal["shoulder"] == pytest.approx(maximal["shoulder"], abs=5e-3) and abs(minimal["shoulder"]) > 0.01


def test_a_walker_lands_on_its_feet_and_stands():
    for figures in in_both("walker"):
        assert figures["load"] == pytest.approx(1, abs=1e-3) and figures["lean"] < 0.05
        assert figures["trunk_height"] == pytest.approx(1.07, abs=0.01)


def test_a_quadruped_stands_on_a_slope_from_the_friction_of_its_tangent():
    for figures in in_both("quadruped", mu=0.4):  # tan 15 degrees = 0.27
        assert abs(figures["speed"]) < 1e-5 and figures["downhill"] < 0.05
    for figures in in_both("quadruped", "--time", 2, mu=0.1):
        # legs that swing while it slides: their centre of mass may be off by what they swing
        assert figures["speed"] == pytest.approx(figures["coulomb_speed"], rel=0.02)


def test_a_gripper_holds_what_friction_can_carry():
    """Its springs press with 17 N a finger: the block of 0.3 kg needs mu of 0.086. Near that, Coulomb's law has several
    answers, some of which slide."""
    for figures in in_both("gripper", "--time", 1, mu=0.2):
        assert abs(figures["block_sinks"]) < 1e-6 and abs(figures["block_speed"]) < 1e-6
        assert 2 * 0.2 * figures["squeeze"] > 0.3 * G
    for figures in in_both("gripper", "--time", 1, mu=0.05):
        assert figures["block_sinks"] > 1


def test_a_machine_is_the_same_from_its_model_file(here):
    """Read from a file, the world of a scene moves alike, bit for bit."""
    for scene in ("arm", "walker", "quadruped", "gripper"):
        options = ["--steps", 50, "--coordinates", "minimal", "--accurate", "--joints", "baumgarte"]
        built = simulate(scene, *options, "--write-model", f"{scene}.xml")
        assert run_json("run", f"{scene}.xml", *options)["hash"] == built["hash"], scene
    assert "has no model file" in run("run", "chain", "--write-model", "chain.xml", code=USAGE).stderr


# ---- sliding and spinning -----------------------------------------------------------------------------------------

def test_a_disc_on_one_point_stops_sliding_and_spinning_when_its_laws_say(here):
    _, lines = trace("spinning-disc", "--time", 1)
    time, slides, spins = lines["time"], lines["slides_for"][0], lines["spins_for"][0]
    # the step in which it stops: one of h = 1 ms
    assert next(t for t, v in zip(time, lines["speed"]) if v < 1e-9) == pytest.approx(slides, abs=1.1e-3)
    assert next(t for t, w in zip(time, lines["spin"]) if abs(w) < 1e-9) == pytest.approx(spins, abs=1.1e-3)


@pytest.mark.parametrize("scene, parameters, alone", [("spinning-disc", {"points": 16}, 0.51), ("spinning-disc", {"coupled": 1}, 0.51),
                                                       ("curling-stone", {}, 6.8)])
def test_what_couples_sliding_and_spinning_stops_both_at_one_instant(scene, parameters, alone, here):
    """And later than it would without spin, because friction of points that turn does not all point backwards."""
    _, lines = trace(scene, "--time", 1.2 if scene == "spinning-disc" else 8, **parameters)
    step = lines["time"][1] - lines["time"][0]
    slides = next(t for t, v in zip(lines["time"], lines["speed"]) if v < 1e-6)
    spins = next(t for t, w in zip(lines["time"], lines["spin"]) if abs(w) < 1e-6)
    assert slides == pytest.approx(spins, abs=2.1 * step) and slides > alone
    if scene == "curling-stone":
        assert -0.01 < lines["curl"][-1] < -0.001  # to the right, though it spins to the left
        assert lines["way"][-1] > lines["way_without_spin"][0]
