function [sim, w] = rpisim_current(sim, w)
% rpisim_current  The simulation that runs, for functions that the library calls: rpisim_current(sim, w) sets it.
  persistent run
  if nargin == 2
    run = struct('sim', sim, 'w', w);
  elseif nargin == 1
    run.sim = sim;
  elseif isempty(run)
    sim = [];
    w = [];
  else
    sim = run.sim;
    w = run.w;
  end
end
