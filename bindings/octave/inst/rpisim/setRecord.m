function sim = setRecord(sim, flag)
% sim = setRecord(sim, flag)   the paper's way to say sim.record = flag
%
% sim.setRecord(flag) does the same at the beginning of sim_run.
%
% See also sim_run, sim_replay
  if nargin < 2
    flag = true;
  end
  sim.record = logical(flag);
end
