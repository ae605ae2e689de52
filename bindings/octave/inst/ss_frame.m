function [frame, findings] = ss_frame(frame, varargin)
% frame = ss_frame(frame)               a checked frame in the conventions of the library
% frame = ss_frame(frame, options)      dialect: the program that wrote it; timestep: in seconds
% [frame, findings] = ss_frame(...)     does not fail on faults but lists them, with repairs and warnings
%
% Takes a frame of any origin: from ss_read, from load('file.h5'), or made by hand. Required are
%
%   frame.timestep                            s
%   frame.bodies.masses                       1 x n, kg
%                positions                    3 x n, m
%                quaternions                  4 x n, scalar first, body to world
%                velocities, forces           1 x 6n (or 6 x n), linear then angular, world frame
%                world_inertia_tensors        3 x 3n, kg m^2
%   frame.contacts.pairs                      2 x m, bodies by their ids, 1 to n unless bodies.ids says else; -1 = world
%                  points, normals            3 x m, world frame, normals from the first body to the second
%                  gaps                       1 x m, m, negative = overlap
%                  mu_k                       2 x m, friction along two tangents
%
% and, where there are joints, frame.constraints with rows, pairs, Jacobian and violations. docs/format.md lists
% all arrays. Several programs wrote files with defects; whose they are is recognised by the contents, and the
% defects are repaired, with a warning 'stickslip:repair' once for each kind. If the contents do not show it, or for
% a frame made by hand, say frame.dialect = 'canonical'. Every function of the toolbox does all of this to its
% frames; this function shows the outcome. Places in messages count from 0, as in files.
%
% Example:
%   p = load('stack.h5');
%   [frame, findings] = ss_frame(p.simulation_000001.mbs_frame000005);
%   frame = ss_frame(p.simulation_000001.mbs_frame000006, 'timestep', 0.01);    % if its file lost it
%
% See also ss_read, ss_check
  options = ss_arguments('ss_frame', struct('dialect', '', 'timestep', []), varargin);
  if ~isempty(options.dialect)
    frame.dialect = options.dialect;
  end
  if ~isempty(options.timestep)
    frame.timestep = options.timestep;
  end
  if nargout > 1
    [frame, findings] = stickslip_mex('frame', frame);
  else
    frame = stickslip_mex('frame', frame);
  end
end
