function ss_start(w, varargin)
% ss_start(w, name, value, ...)   begins the simulation of a world with options
%
% ss_start(w, 'dt', 0.005, 'formulation', 'stewart-trinkle', 'solver', 'lemke', 'iterations', 1000, ...
%          'with', 'directions=8', 'set', 'pivot_factor=50')
% The names are those of `stickslip run`: dt, substeps, formulation, solver, finisher, with (options of
% the formulation) and set (of the solver), both repeatable, iterations, stop, gyro, joints,
% joint_gamma, islands, warm_start, threads, seed, margin, reduce.
%
% Example:
%   w = ss_world('sphere-drop');
%   ss_start(w, 'dt', 0.005, 'formulation', 'stewart-trinkle', 'solver', 'lemke', 'with', 'directions=6');
%
% See also ss_world, ss_step, ss_replace
  stickslip_mex('world_start', w.id, ss_texts(varargin));
end
