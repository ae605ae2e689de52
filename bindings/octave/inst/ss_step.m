function [report, history] = ss_step(w, steps)
% [report, history] = ss_step(w, n)   moves a world by one step, or by n
%
% report = ss_step(w) and report = ss_step(w, n): time, steps, contacts, iterations, status,
% relative_energy, penetration, joint_error, kinetic, potential, seconds, ... of the last step.
% [report, history] = ss_step(w, n) also keeps, one column per step: poses (7 per body: position,
% quaternion), joint_error and joint_speed_error (of each joint), contacts, error.
%
% A step that fails (a number stops being finite, a user function throws) is undone as a whole.
%
% Example:
%   w = ss_world('sphere-drop');
%   [report, history] = ss_step(w, 100);
%   min(history.poses(3, :))
%
% See also ss_start, ss_state, ss_contacts, ss_judge_step
  if nargin < 2
    steps = 1;
  end
  ss_begin(w);
  history = struct('poses', [], 'joint_error', [], 'joint_speed_error', [], 'contacts', [], 'error', []);
  parts = {};
  left = steps;
  while left > 0
    if nargout > 1
      [report, parts{end + 1}] = stickslip_mex('world_step', w.id, left);
    else
      report = stickslip_mex('world_step', w.id, left);
    end
    left = left - report.done;
  end
  names = fieldnames(history);
  for k = 1:numel(names)
    pieces = cellfun(@(p) p.(names{k}), parts, 'UniformOutput', false);
    if ~isempty(pieces)
      history.(names{k}) = [pieces{:}];
    end
  end
end
