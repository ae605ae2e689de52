function s = ss_figures(w)
% s = ss_figures(w)   the values that a scene of the library measures about itself
%
% Example:
%   w = ss_world('sliding-block');
%   ss_step(w, 100);
%   s = ss_figures(w);
%   s.slid
%
% See also ss_world, ss_scenes
  s = stickslip_mex('world_figures', w.id);
end
