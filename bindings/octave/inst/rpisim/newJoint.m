function sim = newJoint(sim, varargin)
% sim = newJoint(sim, body1id, body2id, origin, axis, type)   the paper's name of sim_addJoint
%
% sim.newJoint(body1id, body2id, origin, axis, type) does the same at the beginning of sim_run.
%
% See also sim_addJoint
  sim = sim_addJoint(sim, varargin{:});
end
