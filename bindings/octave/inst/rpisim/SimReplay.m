function log = SimReplay(directory)
% log = SimReplay(directory)   the paper's name of sim_replay
%
% See also sim_replay
  log = sim_replay(directory);
end
