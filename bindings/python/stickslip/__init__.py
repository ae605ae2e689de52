"""stickslip: frictional contact problems in multibody dynamics. Make them, solve them, judge the answers.

    import stickslip as ss

    for frame in ss.open("wall.h5"):                        # BPMD or FCLIB
        result = ss.solve(frame, "auto", stop="energy<1e-6")
        print(frame, result.status, result.metrics["energy"])

    A, b = frame.problem("stewart-trinkle", sides=8).lcp()  # your own solver starts here
"""
from ._library import Error, InputError, ResourceError, UsageError, include_path, library_path, version as __version__
from .answer import Answer
from .dataset import BpmdFile, FclibFile, FclibProblem, Manifest, Simulation, StoredResult, open
from .diagnosis import Complaint, Diagnosis
from .files import Check, Conversion, Recovered, check, convert, info, recover
from .findings import Finding, Findings
from .frame import WORLD, Bodies, Constraints, Contacts, Frame, Generalized, Subcontacts
from .judge import ContactStates, Metric, MetricInfo, Metrics, metrics
from .patches import DiscFriction, Patch, disc_friction
from .problem import LCP, Block, FormulationInfo, Problem, formulations
from .recorder import FrameBuilder, Recorder
from .session import History, Iterate, Result, Session, solve
from .batch import Batch, BatchResult
from .plugins import (ContactView, Formulation, OwnMetric, Plugin, Run, Solver, SolverInfo, Unknown, formulation, load_plugin,
                      metric, solver, solvers)
from .model import (AxisLaw, Body, Energy, Joint, MassProperties, Material, Mesh, ModelInfo, Shape, World, box, capsule, cylinder,
                    ellipsoid, heightfield, hull, plane, sphere, surface)
from .simulate import CONTACT, STAGES, Recording, Sim, StepReport, contact_table, run
from .catalogue import OwnScene, Scene, SceneInfo, scene, scenes
from .page import Page, report, view
from .campaign import Campaign, Command, SolverCheck, bench, check_solver, command

for _name, _value in list(globals().items()):  # tracebacks and help show stickslip.Frame, not stickslip.frame.Frame
    if isinstance(_value, type) and (_value.__module__ or "").startswith("stickslip."):
        _value.__module__ = "stickslip"
del _name, _value
