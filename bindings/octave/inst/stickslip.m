function version = stickslip()
% version = stickslip()   version of the stickslip library, and the list of functions
%
% Frictional contact problems in multibody dynamics: read them, solve them, judge the answers, try your own solver.
%
%   files     ss_read  ss_write  ss_info  ss_check  ss_convert
%   frames    ss_frame  ss_problem  ss_lcp  ss_recover  ss_judge
%   problems  ss_measure  ss_project  ss_diagnose
%   solving   ss_solve  ss_serve
%   worlds    ss_world  ss_body  ss_joint  ss_step  ss_state  ss_contacts  ss_on  ss_replace  ss_record  ss_scenes
%   lists     ss_solvers  ss_formulations  ss_metrics
%   by the names of the BPMD paper   h5_build_stap_reduced  coulomb_metrics
%   scripts for RPIsim   rpisim_setup
%
% A frame is one time step's problem: a struct with timestep, bodies, constraints and contacts, whose arrays have
% the names, shapes and units of the BPMD file format. Frames that load('file.h5') shows are accepted as they are.
%
% Example:
%   frames = ss_read('stack.h5');
%   result = ss_solve(frames.simulation_000001.mbs_frame000001, 'nsgs');
%   result.metrics.energy
%
% See also ss_read, ss_solve
  version = stickslip_mex('version');
end
