function [metrics, details] = ss_judge_step(w)
% [metrics, details] = ss_judge_step(w)   every metric of the last step of a world
%
% [metrics, details] = ss_judge_step(w): metrics.energy, metrics.penetration, ... (NaN = not applicable);
% details is a struct array with unit, worst contact and the reason of each.
%
% Example:
%   w = ss_world('box-pyramid');
%   ss_step(w);
%   m = ss_judge_step(w);
%   m.energy
%
% See also ss_step
  [metrics, details] = stickslip_mex('world_judge', w.id);
end
