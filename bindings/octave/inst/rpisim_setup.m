function rpisim_setup(on)
% rpisim_setup(on)   scripts written for RPI-MATLAB-Simulator run on this library
%
% rpisim_setup adds the folder with RPIsim's functions to the path: Simulator, Body_sphere, mesh_cube, sim_addBody,
% sim_addJoint, sim_run, sim_replay and the others. They are kept apart because their names are short and common
% (rot, hat, qt, pgs, penalty) and would hide functions of yours. rpisim_setup(false) removes the folder again.
%
% What differs from RPIsim, and why, is in the help of each function and in docs/rpisim.md.
%
% Example:
%   rpisim_setup
%   ground = body_setDynamic(scale_mesh(mesh_cube(), 2), false);
%   box = mesh_cube();
%   box.u = [0; 0; 1.6];
%   sim = Simulator(0.01);
%   sim.MAX_STEP = 100;
%   sim = sim_addBody(sim, [ground box]);
%   sim = sim_run(sim);
%
% See also ss_world
  directory = fullfile(fileparts(mfilename('fullpath')), 'rpisim');
  if nargin > 0 && ~on
    rmpath(directory);
  else
    addpath(directory);
  end
end
